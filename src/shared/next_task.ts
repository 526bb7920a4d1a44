// Yields this thread to waiting messages, to painting and to keys.

/**
 * Resolves in a new task, after the messages that wait for this thread. setTimeout would take at least 4 ms, and a
 * second in a hidden page.
 */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
