// The conversation in the page's address, as `#c=ID`: Back and Forward move among conversations, and a bookmark or a
// reload opens that one. A conversation without a question has no address yet.

import type { Conversation } from '../conversation/conversation_tree';

type Named = Pick<Conversation, 'id' | 'turns'>;

/** The id in an address's fragment, or null if there is none. */
export function conversationIn(fragment: string): string | null {
  return /^#c=([0-9a-f]{32})$/.exec(fragment)?.[1] ?? null;
}

function fragmentOf({ id, turns }: Named): string {
  return turns.length > 0 ? `#c=${id}` : '';
}

/** The change of the address for a conversation, or null if it needs none. */
export function addressChange(
  fragment: string,
  conversation: Named,
  replaces = false,
): { how: 'pushState' | 'replaceState'; fragment: string } | null {
  const next = fragmentOf(conversation);
  if (next === fragment) return null;
  // An entry that names no conversation becomes that of the next one: nobody wants to go back to an empty page.
  return { how: replaces || conversationIn(fragment) === null ? 'replaceState' : 'pushState', fragment: next };
}

/** Makes the address follow the conversation. `replaces`: without a new entry in the history. */
export function followInAddress(conversation: Named, replaces = false): void {
  const change = addressChange(location.hash, conversation, replaces);
  if (change) history[change.how](null, '', location.pathname + location.search + change.fragment);
}

interface Shown {
  /** The conversation in view. */
  current(): Named;
  /** Opens a stored one. Resolves to null if there is none of that id. */
  find(id: string): Promise<Conversation | null>;
  open(conversation: Conversation): void;
  openFresh(): void;
  /** Called for an id that nothing has, and after each move. */
  onUnknown(): void;
  onMove(): void;
}

/** Opens the conversation of each entry that Back and Forward reach. */
export function connectHistory(shown: Shown): void {
  addEventListener('popstate', async () => {
    shown.onMove();
    const { hash } = location;
    const id = conversationIn(hash);
    if (id === shown.current().id) return;
    if (id === null) {
      if (shown.current().turns.length > 0) shown.openFresh();
      return;
    }
    const found = await shown.find(id);
    if (location.hash !== hash) return; // the reader has gone on
    if (found) return shown.open(found);
    shown.onUnknown();
    followInAddress(shown.current(), true);
  });
}
