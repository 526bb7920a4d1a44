// A conversation as a tree: an edited question or a new answer becomes a branch beside the old one, and nothing is
// lost. Pure.

import { uniqueId } from '../../shared/unique_id';
import type { Attachment } from './attachments';
import { newTurn, type Turn } from './conversation';

export interface Conversation {
  /** Unique, as are the ids of turns, so that two copies of a conversation can be merged. */
  readonly id: string;
  /** '' until a person gives one. Until then the first question serves as the title. */
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The system message at the beginning, or ''. */
  readonly system: string;
  /** The turns of all branches, a parent before its children. */
  readonly turns: readonly Turn[];
  /** The visible turn among those that share a parent: its id by the parent's id, or by '' for first turns. */
  readonly shown: Readonly<Record<string, string>>;
  /** The beginning of the model's memory. Absent while the model reads everything. */
  readonly memory?: Memory;
}

/** Ids of turns. Applies to branches that contain the turn `after`; on others nothing is forgotten. */
export interface Memory {
  /** The newest turn that the model no longer reads. It reads none of the earlier ones either. */
  readonly after: string;
  /** The newest turn of the branch at the time of the choice. Later turns were answered with the shorter memory. */
  readonly since: string;
}

/** A visible turn, and all turns that share its parent, oldest first. */
export interface Step {
  turn: Turn;
  among: readonly Turn[];
}

const ROOT = '';
const TITLE_LENGTH = 60;
/** Most letters of a title that a person gives. */
export const MAX_OWN_TITLE = 200;

export function newConversation(system = ''): Conversation {
  const now = Date.now();
  return { id: uniqueId(), title: '', createdAt: now, updatedAt: now, system, turns: [], shown: {} };
}

/** The visible branch from the first turn to the last, each turn with its siblings. */
export function shownSteps({ turns, shown }: Conversation): Step[] {
  const steps: Step[] = [];
  const children = byParent(turns);
  for (let among = children.get(ROOT); among; among = children.get(steps.at(-1)!.turn.id)) {
    const chosen = shown[among[0].parent ?? ROOT];
    steps.push({ turn: among.find((turn) => turn.id === chosen) ?? among.at(-1)!, among });
  }
  return steps;
}

/** The turns from the first to this one, on any branch. */
export function pathTo({ turns }: Conversation, turn: Turn): Turn[] {
  const byId = new Map(turns.map((other) => [other.id, other]));
  const path: Turn[] = [];
  for (let at: Turn | undefined = turn; at; at = byId.get(at.parent ?? ROOT)) path.push(at);
  return path.reverse();
}

/** Adds a turn after `parent` (null: at the start), and shows the new turn. */
export function addTurn(
  conversation: Conversation,
  parent: string | null,
  question: string,
  attachments: readonly Attachment[] = [],
): { conversation: Conversation; turn: Turn } {
  const turn = newTurn(question, parent, attachments);
  return { conversation: showTurn({ ...conversation, turns: [...conversation.turns, turn] }, turn), turn };
}

/** Makes a turn the visible one among its siblings. */
export function showTurn(conversation: Conversation, { id, parent }: Turn): Conversation {
  return { ...conversation, updatedAt: Date.now(), shown: { ...conversation.shown, [parent ?? ROOT]: id } };
}

/** The conversation with the branch of a turn in view. As reading changes nothing, it keeps its date. */
export function showBranchOf(conversation: Conversation, turn: Turn): Conversation {
  const choices = pathTo(conversation, turn).map(({ id, parent }) => [parent ?? ROOT, id] as const);
  return { ...conversation, shown: { ...conversation.shown, ...Object.fromEntries(choices) } };
}

/** Removes a turn and all that follow it. */
export function removeTurn(conversation: Conversation, { id }: Turn): Conversation {
  const gone = new Set([id]);
  for (const turn of conversation.turns) if (turn.parent !== null && gone.has(turn.parent)) gone.add(turn.id);
  const turns = conversation.turns.filter((turn) => !gone.has(turn.id));
  const shown = Object.fromEntries(
    Object.entries(conversation.shown).filter(([parent, child]) => !gone.has(parent) && !gone.has(child)),
  );
  return { ...conversation, updatedAt: Date.now(), turns, shown };
}

/** Asks again in place of a turn: the new turn becomes its sibling, or replaces it where nothing would be lost. */
export function replaceTurn(
  conversation: Conversation,
  turn: Turn,
  question: string,
  attachments: readonly Attachment[] = turn.attachments,
): { conversation: Conversation; turn: Turn } {
  const isSpent =
    (turn.answer + turn.reasoning).trim() === '' &&
    turn.calls.length === 0 &&
    !conversation.turns.some(({ parent }) => parent === turn.id);
  return addTurn(isSpent ? removeTurn(conversation, turn) : conversation, turn.parent, question, attachments);
}

/** The conversation as loaded from storage: of answers that were still streaming, the page has closed. */
export function settled(conversation: Conversation): Conversation {
  if (!conversation.turns.some(({ state }) => state === 'streaming')) return conversation;
  const turns = conversation.turns.map((turn): Turn => {
    return turn.state === 'streaming' ? { ...turn, state: 'done', finishReason: 'closed', waitsFor: null } : turn;
  });
  return { ...conversation, turns };
}

export const ownTitle = (title: string): string => title.trim().slice(0, MAX_OWN_TITLE);

/** A person's own title, or else the first question, in the version that is shown. */
export function wholeTitleOf({ title, turns, shown }: Conversation): string {
  const firsts = turns.filter(({ parent }) => parent === null);
  const first = firsts.find(({ id }) => id === shown[ROOT]) ?? firsts.at(-1);
  return title.trim() || (first?.question ?? '').replace(/\s+/g, ' ').trim();
}

/** The title in lists. */
export function titleOf(conversation: Conversation): string {
  const text = wholeTitleOf(conversation);
  if (text === '') return 'New conversation';
  const letters = [...text];
  return letters.length <= TITLE_LENGTH
    ? text
    : `${letters
        .slice(0, TITLE_LENGTH - 1)
        .join('')
        .trimEnd()}…`;
}

function byParent(turns: readonly Turn[]): Map<string, Turn[]> {
  const children = new Map<string, Turn[]>();
  for (const turn of turns) {
    const key = turn.parent ?? ROOT;
    const known = children.get(key);
    if (known) known.push(turn);
    else children.set(key, [turn]);
  }
  return children;
}
