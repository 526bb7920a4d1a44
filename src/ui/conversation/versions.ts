// The versions of a turn: of its question (edited) and of its answer (regenerated). Both are turns with one parent.
// Those with the same question and files are versions of one answer. Pure.

import { contentOf } from './attachments';
import type { Turn } from './conversation';
import type { Step } from './conversation_tree';

/** The part of a turn that has versions. */
export type VersionOf = 'question' | 'answer';

/** One version among all. */
export interface Version {
  /** Index among the versions, from 0. */
  place: number;
  places: number;
}

/** The place of the turn among the versions of its question, and of its answer. Oldest first. */
export function versionsOf(step: Step): Record<VersionOf, Version> {
  if (step.among.length === 1) return { question: { place: 0, places: 1 }, answer: { place: 0, places: 1 } };
  const { groups, place } = groupsOf(step);
  const answers = groups[place];
  return {
    question: { place, places: groups.length },
    answer: { place: answers.indexOf(step.turn), places: answers.length },
  };
}

/** The version before (-1) or after (1), if there is one. Of another question it is the newest answer. */
export function versionBeside(step: Step, of: VersionOf, by: 1 | -1): Turn | undefined {
  const { groups, place } = groupsOf(step);
  if (of === 'question') return groups[place + by]?.at(-1);
  const answers = groups[place];
  return answers[answers.indexOf(step.turn) + by];
}

/** The turns of a step by their questions, and the index of the group that holds the visible turn. */
function groupsOf({ turn, among }: Step): { groups: Turn[][]; place: number } {
  const groups = new Map<string, Turn[]>();
  for (const each of among) {
    const asked = contentOf(each);
    const known = groups.get(asked);
    if (known) known.push(each);
    else groups.set(asked, [each]);
  }
  const all = [...groups.values()];
  return { groups: all, place: all.indexOf(groups.get(contentOf(turn))!) };
}
