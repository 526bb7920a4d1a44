// Merges of copies of one conversation: of two tabs, of a file and the storage, and of what a page left that closed or
// crashed. Pure.

import { isJsonObject } from '../../shared/json_object';
import type { Turn } from './conversation';
import { type Conversation, type Memory, showBranchOf } from './conversation_tree';

/**
 * A copy that a tab knows to be stored. Compared with the tab's next copy it tells what the tab has changed, and
 * compared with the stored copy what other tabs have changed.
 */
export interface Base {
  readonly system: string;
  readonly shown: Readonly<Record<string, string>>;
  readonly memory: Memory | undefined;
  /** The letters of each turn, by its id. */
  readonly letters: ReadonlyMap<string, number>;
}

export function baseOf({ system, shown, memory, turns }: Conversation): Base {
  return { system, shown, memory, letters: new Map(turns.map((turn) => [turn.id, lettersOf(turn)])) };
}

/** A base as JSON, to be stored. */
export function storedBase(base: Base): object {
  return { ...base, letters: [...base.letters] };
}

/** A stored base, or null if it is invalid. */
export function readBase(value: unknown): Base | null {
  if (!isJsonObject(value) || typeof value.system !== 'string' || !isJsonObject(value.shown)) return null;
  const { letters } = value;
  if (letters instanceof Map) return value as unknown as Base; // an older page left it
  if (!Array.isArray(letters) || !letters.every(isEntry)) return null;
  return { ...(value as unknown as Base), letters: new Map(letters) };
}

function isEntry(value: unknown): value is [string, number] {
  return Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'number';
}

/**
 * Merges two copies of a conversation. The result has the turns of both, with the longer text of each turn. Title,
 * system message and visible branch come from the newer copy.
 */
export function mergeConversations(a: Conversation, b: Conversation): Conversation {
  const [older, newer] = a.updatedAt <= b.updatedAt ? [a, b] : [b, a];
  const turns = new Map(older.turns.map((turn) => [turn.id, turn]));
  for (const turn of newer.turns) turns.set(turn.id, fuller(turns.get(turn.id) ?? turn, turn));
  return { ...newer, turns: [...turns.values()], shown: { ...older.shown, ...newer.shown } };
}

/** Merges a copy from elsewhere, such as a file or an undone deletion, into the stored one. A title stays. */
export function mergeCopies(stored: Conversation | null, copy: Conversation): Conversation {
  if (!stored) return copy;
  const merged = mergeConversations(stored, copy);
  return { ...merged, title: merged.title || stored.title || copy.title };
}

/**
 * Merges a tab's copy into the stored one: what the tab has changed since its `base` is taken from its copy, and the
 * rest from the stored one. The stored title stays, because only a rename changes titles. Null if another tab has
 * deleted the conversation and this one has asked nothing new.
 */
export function mergeTab(stored: Conversation | null, copy: Conversation, base: Base | null): Conversation | null {
  if (!stored) return base && copy.turns.every(({ id }) => base.letters.has(id)) ? null : copy;
  const merged = { ...mergeConversations(stored, copy), title: stored.title };
  if (!base) return merged;
  const [here, there] = [copy, stored].map(({ turns }) => new Set(turns.map(({ id }) => id)));
  // One tab has removed a turn without text, and the other has not written into the turn since.
  const isRemoved = (turn: Turn) =>
    (!here.has(turn.id) || !there.has(turn.id)) && lettersOf(turn) <= (base.letters.get(turn.id) ?? -1);
  // The turns that the tab has begun to show: what was asked there is in view at the next opening.
  const own = copy.turns.filter(({ id, parent }) => copy.shown[parent ?? ''] === id && base.shown[parent ?? ''] !== id);
  const { memory: _, ...rest } = merged;
  const memory = isSameMemory(copy.memory, base.memory) ? stored.memory : copy.memory;
  return {
    ...rest,
    system: copy.system === base.system ? stored.system : copy.system,
    turns: withoutRemoved(merged.turns, isRemoved),
    shown: own.reduce(showBranchOf, { ...copy, shown: { ...copy.shown, ...stored.shown } }).shown,
    ...(memory ? { memory } : {}),
  };
}

/**
 * Adds the text of a turn that was written while it streamed. A turn that the conversation lacks was removed, and its
 * text with it.
 */
export function mergeGrown(stored: Conversation, grown: Turn): Conversation {
  const turns = stored.turns.map((turn) => {
    if (turn.id !== grown.id || lettersOf(grown) <= lettersOf(turn)) return turn;
    const { question, attachments, parent, createdAt } = turn;
    return { ...grown, question, attachments, parent, createdAt };
  });
  return { ...stored, turns };
}

function fuller(older: Turn, newer: Turn): Turn {
  const [before, now] = [lettersOf(older), lettersOf(newer)];
  if (now === before) return isOpen(newer) ? older : newer; // a tab that only read does not know the end
  return now > before ? newer : older;
}

function isOpen({ state, finishReason }: Turn): boolean {
  return state === 'streaming' || finishReason === 'closed';
}

function lettersOf({ reasoning, answer, calls }: Turn): number {
  return calls.reduce((sum, call) => sum + call.name.length + call.arguments.length, reasoning.length + answer.length);
}

function isSameMemory(a: Memory | undefined, b: Memory | undefined): boolean {
  return a?.after === b?.after && a?.since === b?.since;
}

/** Drops removed turns, except those that other turns follow. */
function withoutRemoved(turns: readonly Turn[], isRemoved: (turn: Turn) => boolean): Turn[] {
  const parents = new Set<string | null>();
  const left = turns.toReversed().filter((turn) => {
    if (isRemoved(turn) && !parents.has(turn.id)) return false;
    parents.add(turn.parent);
    return true;
  });
  return left.reverse();
}
