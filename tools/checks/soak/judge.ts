// Compares what a task did with what an undisturbed engine does. Pure.

import type { Task } from './task';
import type { Outcome } from './work';

/** Errors that a person can act on. */
const TYPED = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/** Why an outcome is a fault of the engine's; null for a good one. `undisturbed` is null for loads. */
export function objection(task: Task | null, outcome: Outcome, undisturbed: Outcome | null): string | null {
  if (outcome.end === 'hung') return `did not settle within ${(outcome.ms / 1000).toFixed(0)} s`;
  if (outcome.end === 'error') {
    if (!TYPED.test(outcome.code) || outcome.code === 'internal') {
      return `ended in an untyped error: ${outcome.code}: ${outcome.message}`;
    }
    return undisturbed?.said.startsWith(outcome.said) === false ? textsDiffer(outcome, undisturbed) : null;
  }
  if (!task || !undisturbed) return null;
  const isWhole = outcome.said === undisturbed.said;
  // An abort in the middle of a character shows the bytes that came as U+FFFD.
  const isBegun = task.kind === 'abort' && undisturbed.said.startsWith(outcome.said.replace(/\uFFFD$/, ''));
  return isWhole || isBegun ? null : textsDiffer(outcome, undisturbed);
}

function textsDiffer({ said }: Outcome, undisturbed: Outcome): string {
  let at = 0;
  while (at < said.length && said[at] === undisturbed.said[at]) at++;
  const cut = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 20), at + 30));
  return `text differs from letter ${at}: ${cut(said)} instead of ${cut(undisturbed.said)}`;
}

/** The same work without its fault and without an abort. */
export function calmed(task: Task): Task {
  const whole = task.kind === 'abort' ? { ...task, kind: 'chat' as const, abortAfter: 0 } : task;
  return { ...whole, strike: null };
}

/** Equal for tasks whose undisturbed work is the same. */
export function keyOf(task: Task): string {
  return JSON.stringify(calmed(task));
}
