// The storyteller for tests.

import { readFileSync } from 'node:fs';
import { openModel } from '../../src/storage/model_file';
import { createTokenizer } from '../../src/text/any_tokenizer';
import { createChatTemplate } from '../../src/text/template/chat_template';
import { findChatTemplate } from '../../src/text/template/find_template';

export const STORYTELLER = new URL('../../public/models/storyteller/storyteller-q8_0.gguf', import.meta.url);

/** The embedded default model, opened as in the page: one GGUF with its own tokenizer and template. */
export async function openStoryteller() {
  const files = await openModel(new File([readFileSync(STORYTELLER)], 'storyteller-q8_0.gguf'));
  const tokenizer = createTokenizer(files);
  const template = createChatTemplate(findChatTemplate(files) as string, tokenizer);
  return { files, tokenizer, template };
}
