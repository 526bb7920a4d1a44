// Work in the next frame, and after that frame is painted.

const channel = 'requestAnimationFrame' in globalThis ? new MessageChannel() : null;
const painted: (() => void)[] = [];
if (channel) channel.port1.onmessage = () => painted.shift()?.();

/**
 * Calls `inFrame` in the next frame, and the function that it returns once the frame is painted: a message posted
 * before a frame is painted arrives afterwards. Calls nothing in a hidden page, which paints nothing, or in a program
 * without a page.
 */
export function afterPaint(inFrame: () => () => void): void {
  if (!channel) return;
  requestAnimationFrame(() => {
    painted.push(inFrame());
    channel.port2.postMessage(null);
  });
}
