// Whether an earlier visit left prompts. Everything else that they need may come later.

import { withTimeout } from '../../shared/with_timeout';

export const PROMPT_FOLDER = 'vivace-prompts';

/** Longest wait for the browser's answer. A prompt is computed sooner. */
const LOOK_MS = 1000;

/** True if the folder of prompts is there. False where the browser has no such storage, or does not answer. */
export async function hasPrompts(): Promise<boolean> {
  const look = async () => (await navigator.storage.getDirectory()).getDirectoryHandle(PROMPT_FOLDER);
  return withTimeout(look, LOOK_MS).then(
    () => true,
    () => false,
  );
}
