// A conversation as a tree: an edited question or another answer is a branch beside the old one, and nothing is lost. Pure.

import { newTurn, type Turn, uniqueId } from './conversation';

export interface Conversation {
  /** Unique everywhere, as are those of its turns, so that two copies of a conversation can be merged. */
  readonly id: string;
  /** '' until a person gives one; until then it is called after its first question. */
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The system message before everything, or ''. */
  readonly system: string;
  /** The turns of all branches, a parent before its children. */
  readonly turns: readonly Turn[];
  /** Of the turns that share a parent, the one that is shown: its id by the parent's, by '' for the first of all. */
  readonly shown: Readonly<Record<string, string>>;
  /** Where the model's memory begins; left out while it reads everything. */
  readonly memory?: Memory;
}

/** Ids of turns. On a branch without the first one nothing is forgotten. */
export interface Memory {
  /** The newest turn that the model no longer reads, nor any before it. */
  readonly after: string;
  /** The newest turn of the branch when this was chosen: turns after it were answered with the shorter memory. */
  readonly since: string;
}

/** A turn as the reader comes upon it: one of those that stand for its place, oldest first. */
export interface Step {
  turn: Turn;
  among: readonly Turn[];
}

const ROOT = '';
const TITLE_LENGTH = 60;

export function newConversation(system = ''): Conversation {
  const now = Date.now();
  return { id: uniqueId(), title: '', createdAt: now, updatedAt: now, system, turns: [], shown: {} };
}

/** The turns from the first to the last of the branch that is shown, each with those beside it. */
export function shownSteps({ turns, shown }: Conversation): Step[] {
  const steps: Step[] = [];
  const children = byParent(turns);
  for (let among = children.get(ROOT); among; among = children.get(steps.at(-1)!.turn.id)) {
    const chosen = shown[among[0].parent ?? ROOT];
    steps.push({ turn: among.find((turn) => turn.id === chosen) ?? among.at(-1)!, among });
  }
  return steps;
}

/** The turns from the first to this one, on whatever branch it is. */
export function pathTo({ turns }: Conversation, turn: Turn): Turn[] {
  const byId = new Map(turns.map((other) => [other.id, other]));
  const path: Turn[] = [];
  for (let at: Turn | undefined = turn; at; at = byId.get(at.parent ?? ROOT)) path.push(at);
  return path.reverse();
}

/** Adds a turn after `parent` (null: at the start) and shows it. */
export function addTurn(
  conversation: Conversation,
  parent: string | null,
  question: string,
): { conversation: Conversation; turn: Turn } {
  const turn = newTurn(question, parent);
  return { conversation: showTurn({ ...conversation, turns: [...conversation.turns, turn] }, turn), turn };
}

/** Shows the branch that a turn begins. */
export function showTurn(conversation: Conversation, { id, parent }: Turn): Conversation {
  return { ...conversation, updatedAt: Date.now(), shown: { ...conversation.shown, [parent ?? ROOT]: id } };
}

/** Takes away a turn and everything that follows it. */
export function removeTurn(conversation: Conversation, { id }: Turn): Conversation {
  const gone = new Set([id]);
  for (const turn of conversation.turns) if (turn.parent !== null && gone.has(turn.parent)) gone.add(turn.id);
  const turns = conversation.turns.filter((turn) => !gone.has(turn.id));
  const shown = Object.fromEntries(
    Object.entries(conversation.shown).filter(([parent, child]) => !gone.has(parent) && !gone.has(child)),
  );
  return { ...conversation, updatedAt: Date.now(), turns, shown };
}

/** Another question, or another answer to the same one, in a turn's place: beside it, or instead of it where nothing would be lost. */
export function replaceTurn(
  conversation: Conversation,
  turn: Turn,
  question: string,
): { conversation: Conversation; turn: Turn } {
  const isSpent = turn.answer.trim() === '' && !conversation.turns.some(({ parent }) => parent === turn.id);
  return addTurn(isSpent ? removeTurn(conversation, turn) : conversation, turn.parent, question);
}

/** A conversation that was kept: an answer that was being written then has stopped since. */
export function settled(conversation: Conversation): Conversation {
  if (!conversation.turns.some(({ state }) => state === 'streaming')) return conversation;
  const turns = conversation.turns.map((turn): Turn => {
    return turn.state === 'streaming' ? { ...turn, state: 'done', finishReason: 'abort', waitsFor: null } : turn;
  });
  return { ...conversation, turns };
}

/** What a list calls it. */
export function titleOf({ title, turns }: Conversation): string {
  const text = title.trim() || (turns[0]?.question ?? '').replace(/\s+/g, ' ').trim();
  if (text === '') return 'New conversation';
  const letters = [...text];
  return letters.length <= TITLE_LENGTH
    ? text
    : `${letters
        .slice(0, TITLE_LENGTH - 1)
        .join('')
        .trimEnd()}…`;
}

/**
 * One conversation out of two copies of it, say of two tabs: the turns of both, of a turn in both the longer answer; the title, the system
 * message and what is shown of the copy changed last.
 */
export function mergeConversations(a: Conversation, b: Conversation): Conversation {
  const [older, newer] = a.updatedAt <= b.updatedAt ? [a, b] : [b, a];
  const turns = new Map(older.turns.map((turn) => [turn.id, turn]));
  for (const turn of newer.turns) {
    const other = turns.get(turn.id);
    if (!other || turn.answer.length >= other.answer.length) turns.set(turn.id, turn);
  }
  return { ...newer, turns: [...turns.values()], shown: { ...older.shown, ...newer.shown } };
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
