// What lies over a page and closes by Escape: popovers and modal dialogs, in shadow roots, too.

const OPEN = ':popover-open, dialog:modal';

/** Whether anything below `root` is open. */
export function hasOpenLayer(root: ParentNode): boolean {
  if (root.querySelector(OPEN)) return true;
  return [...root.querySelectorAll('*')].some(({ shadowRoot }) => shadowRoot && hasOpenLayer(shadowRoot));
}
