// What an address may be that a page names.

/** True for an address of the web, or with the page's own scheme: extensions and desktop windows have one. */
export function canFetch({ protocol }: URL, page: string): boolean {
  return /^(?:https?|blob):$/.test(protocol) || (protocol !== 'file:' && protocol === new URL(page).protocol);
}
