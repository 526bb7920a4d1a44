// xgrammar (MLC) as a second opinion on masks.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileFunction, constants } from 'node:vm';
import type { GrammarCompiler, GrammarMatcher } from '@mlc-ai/web-xgrammar';
import type { Json } from '../../text/fixtures';

type Package = typeof import('@mlc-ai/web-xgrammar');

let loaded: Package | null = null;

/** The package is a CommonJS file that calls itself a module, so Node cannot import it. */
function xgrammar(): Package {
  if (loaded) return loaded;
  const require = createRequire(import.meta.url);
  const file = require.resolve('@mlc-ai/web-xgrammar');
  const exports = {} as Package;
  const run = compileFunction(readFileSync(file, 'utf8'), ['module', 'exports', 'require', '__filename', '__dirname'], {
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  run({ exports }, exports, require, file, '.');
  loaded = exports;
  return exports;
}

/** A compiler for the vocabulary of a tokenizer.json whose tokens stand for bytes as in GPT-2. */
export async function createCompiler({ model, added_tokens }: Json, vocabSize: number): Promise<GrammarCompiler> {
  const { GrammarCompiler, TokenizerInfo } = xgrammar();
  const texts = Array.from({ length: vocabSize }, () => '');
  for (const [text, id] of Object.entries((model as Json).vocab as Record<string, number>)) texts[id] = text;
  const added = added_tokens as { id: number; content: string }[];
  for (const { id, content } of added) texts[id] = content;
  const stops = added.map(({ id }) => id);
  const info = await TokenizerInfo.createTokenizerInfo(texts, 'byte_level', false, vocabSize, stops);
  return GrammarCompiler.createGrammarCompiler(info);
}

export const createMatcher = (grammar: Awaited<ReturnType<GrammarCompiler['compileGrammar']>>) =>
  xgrammar().GrammarMatcher.createGrammarMatcher(grammar);

/** A flag for each token, as maskTokens has them. */
export async function maskOf(matcher: GrammarMatcher, vocabSize: number): Promise<Uint8Array> {
  const bits = await matcher.getNextTokenBitmask();
  return Uint8Array.from({ length: vocabSize }, (_, id) => (bits[id >> 5] >>> (id & 31)) & 1);
}

/** True for a text that fits as a whole. */
export const accepts = async (source: string, text: string): Promise<boolean> => {
  const { Grammar, Testings } = xgrammar();
  return Testings.isGrammarAcceptString(await Grammar.fromEBNF(source), text);
};
