// Detects that a page has removed one of our elements.

/** Calls back if `element` is off the page when the current task has ended. A moved element is not removed. */
export function whenRemoved(element: Pick<Element, 'isConnected'>, callback: () => void): void {
  setTimeout(() => {
    if (!element.isConnected) callback();
  });
}
