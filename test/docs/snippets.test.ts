// Code of the docs against the types of the package's entries, and their JSON.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ROOT } from '../../tools/lib/ensure.mjs';
import { FILES, read } from './markdown';

/** Sources of the package's entries. */
const ENTRIES = {
  vivace: 'src/engine/engine.ts',
  'vivace/elements': 'src/embed/elements/elements_entry.ts',
  'vivace/openai': 'src/api/openai/fetch.ts',
  'vivace/prompt-api': 'src/api/prompt_api/language_model.ts',
  'vivace/webllm': 'src/api/webllm.ts',
  'vivace/remote': 'src/remote/remote_engine.ts',
  'vivace/tabs': 'src/tabs/shared_engine.ts',
};

/** What a reader has before a piece of code begins. */
const READER = `
import * as vivace from 'vivace';
import * as openai from 'vivace/openai';
import * as prompts from 'vivace/prompt-api';
import { convertToModelMessages as convert, generateText as generate, streamText as stream } from 'ai';
import type { ChatTransport as Transport, UIMessage as Message } from 'ai';
import { createOpenAICompatible as compatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI as Chat } from '@langchain/openai';
import { OpenAI as Client } from 'openai';

declare global {
  const Engine: typeof vivace.Engine;
  const engine: vivace.Engine;
  const other: vivace.Engine;
  const messages: never[]; // fits the types of all interfaces
  const tools: Record<string, never>;
  const provider: ReturnType<typeof compatible>;
  const LanguageModel: ReturnType<typeof prompts.createLanguageModel>;
  type ChatMessage = vivace.ChatMessage;
  type LoadProgress = vivace.LoadProgress;
  type VivaceError = vivace.VivaceError;
  let answer: string;
  const apiKey: string;
  const createFetch: typeof openai.createFetch;
  const OpenAI: typeof Client;
  const ChatOpenAI: typeof Chat;
  const convertToModelMessages: typeof convert;
  const generateText: typeof generate;
  const streamText: typeof stream;
  const createOpenAICompatible: typeof compatible;
  type ChatTransport<M extends Message> = Transport<M>;
  type UIMessage = Message;
  function useChat(options: { transport: Transport<Message> }): unknown; // @ai-sdk/react is not installed here
  function show(text: string): void;
}
`;

interface Piece {
  name: string;
  place: string;
  text: string;
}

function piecesOf(...languages: string[]): Piece[] {
  return FILES.flatMap((file) =>
    read(file)
      .fences.filter(({ language }) => languages.includes(language))
      .map(({ text, line }) => ({ name: `${file.replace(/\W/g, '_')}_${line}.ts`, place: `${file}:${line}`, text })),
  );
}

test('code is right by the types of the entries', async () => {
  const folder = mkdtempSync(path.join(ROOT, 'node_modules/.docs-'));
  try {
    const paths = Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, [path.join(ROOT, file)]]));
    const config = {
      extends: path.join(ROOT, 'tsconfig.json'),
      compilerOptions: { paths, noUnusedLocals: false, noImplicitAny: true },
      include: ['*.ts', path.join(ROOT, 'src/globals.d.ts')],
      exclude: [],
    };
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
    writeFileSync(path.join(folder, 'reader.d.ts'), READER);
    const pieces = piecesOf('ts', 'js');
    expect(pieces.length).toBeGreaterThan(10);
    for (const { name, text } of pieces) writeFileSync(path.join(folder, name), `${text}\nexport {};\n`);
    const compiler = path.join(ROOT, 'node_modules/typescript/bin/tsc');
    const said = await promisify(execFile)(process.execPath, [compiler, '-p', folder, '--pretty', 'false']).then(
      ({ stdout }) => stdout,
      ({ stdout }) => stdout as string,
    );
    expect(said).toBe('');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('JSON is JSON', () => {
  for (const { place, text } of piecesOf('json')) expect(() => JSON.parse(text), place).not.toThrow();
});
