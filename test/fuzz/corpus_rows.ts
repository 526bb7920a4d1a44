// Inputs of cases as readable JSON: bytes as text if they are UTF-8, repetitions counted, and a tag before values that
// JSON lacks. Reading a written input returns an equal one.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const CORPUS = path.join(import.meta.dirname, 'corpus.json');

type Json = null | boolean | number | string | Json[] | { [word: string]: Json };

const LIST_TYPES = { Int32Array, Uint32Array, Float32Array, Float64Array } as const;
const LONG = 100;
/** A piece of text repeated twenty times or more. */
const RUN = /([\s\S]{1,24}?)\1{19,}/g;

/** A found case: a row of corpus.json. */
export interface CorpusRow {
  loader: string;
  /** The fault of the case. */
  found: string;
  input: unknown;
}

export function readCorpus(): CorpusRow[] {
  return JSON.parse(readFileSync(CORPUS, 'utf8')) as CorpusRow[];
}

/** One row per line. */
export function writeCorpus(rows: readonly CorpusRow[]): void {
  writeFileSync(CORPUS, `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`);
}

export function writeInput(value: unknown): Json {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return value.length < LONG ? value : writeText(value);
  if (typeof value === 'number')
    return Number.isFinite(value) && !Object.is(value, -0)
      ? value
      : { number: Object.is(value, -0) ? '-0' : String(value) };
  if (typeof value === 'bigint') return { bigint: String(value) };
  if (value === undefined) return { undefined: true };
  if (Array.isArray(value)) return value.map(writeInput);
  if (value instanceof Map) return { map: Array.from(value, (entry: unknown[]) => entry.map(writeInput)) };
  if (value instanceof Uint8Array) return writeBytes(value);
  for (const [name, Type] of Object.entries(LIST_TYPES)) {
    if (value instanceof Type) return { [name]: Array.from(value, writeInput) };
  }
  return { object: Object.entries(value).map(([key, inner]) => [key, writeInput(inner)]) };
}

export function readInput(json: Json): unknown {
  if (json === null || typeof json !== 'object') return json;
  if (Array.isArray(json)) return json.map(readInput);
  const [[word, value]] = Object.entries(json) as [[string, Json]];
  const pairs = () => value as [Json, Json][];
  switch (word) {
    case 'number':
      return Number(value);
    case 'bigint':
      return BigInt(value as string);
    case 'undefined':
      return undefined;
    case 'map':
      return new Map(pairs().map(([key, inner]) => [readInput(key), readInput(inner)]));
    case 'runs':
      return pairs().reduce((text, [piece, times]) => text + String(piece).repeat(Number(times)), '');
    case 'utf8':
      return new TextEncoder().encode(readInput(value) as string);
    case 'latin1':
      return Uint8Array.from(Buffer.from(readInput(value) as string, 'latin1'));
    case 'base64':
      return Uint8Array.from(Buffer.from(value as string, 'base64'));
    case 'object':
      return Object.fromEntries(pairs().map(([key, inner]) => [key, readInput(inner)]));
  }
  const Type = LIST_TYPES[word as keyof typeof LIST_TYPES];
  if (!Type) throw new Error(`The corpus has a value of the unknown kind "${word}".`);
  return Type.from((value as Json[]).map((item) => readInput(item) as number));
}

/** [piece, times] in the order of the text. */
function writeText(text: string): Json {
  const runs: [string, number][] = [];
  let from = 0;
  for (const match of text.matchAll(RUN)) {
    if (match.index > from) runs.push([text.slice(from, match.index), 1]);
    runs.push([match[1], match[0].length / match[1].length]);
    from = match.index + match[0].length;
  }
  if (from === 0) return text;
  if (from < text.length) runs.push([text.slice(from), 1]);
  return { runs };
}

function writeBytes(bytes: Uint8Array): Json {
  try {
    return { utf8: writeInput(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)) };
  } catch {
    const runs = writeText(Buffer.from(bytes).toString('latin1'));
    return typeof runs === 'string' ? { base64: Buffer.from(bytes).toString('base64') } : { latin1: runs };
  }
}
