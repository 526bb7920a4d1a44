const channel = 'requestAnimationFrame' in globalThis ? new MessageChannel() : null;
const painted: (() => void)[] = [];
if (channel) channel.port1.onmessage = () => painted.shift()?.();

/**
 * Calls `inFrame` in the next frame and what it returns once that frame is painted: a message that is posted before a frame's
 * painting is heard after it. A hidden page paints nothing, nor does a program without a page.
 */
export function afterPaint(inFrame: () => () => void): void {
  if (!channel) return;
  requestAnimationFrame(() => {
    painted.push(inFrame());
    channel.port2.postMessage(null);
  });
}
