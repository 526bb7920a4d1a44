// What a page asks of the engine beside answers. It comes when it is called.

import { arrived } from '../../shared/part';
import type { Constraint } from '../protocol';

/**
 * The sentences about what of a constraint is enforced otherwise than asked for, without a model.
 * @throws ConstraintError for what cannot be enforced, WorkerError where the compiler cannot be fetched
 */
export async function checkConstraint(constraint: Constraint): Promise<readonly string[]> {
  const { sayDifferences } = await arrived(import('./constraint/constrain'));
  return sayDifferences(constraint);
}

/** Bytes that all prompts of this site take. 0 where the browser has no such storage. */
export async function storedPromptBytes(): Promise<number> {
  const { promptBytes } = await arrived(import('../../storage/prompts/prompt_files'));
  return promptBytes();
}

/** Deletes the prompts of this site. @throws LateError, and the browser's error for one that a tab is writing */
export async function deleteStoredPrompts(): Promise<void> {
  const { deleteAllPrompts } = await arrived(import('../../storage/prompts/prompt_files'));
  await deleteAllPrompts();
}
