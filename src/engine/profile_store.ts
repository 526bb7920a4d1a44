// Keeps what the attention tuner measured, in IndexedDB. Never throws: without storage there is no profile.
// What is read back is as untrusted as a file: another version wrote it, or anyone with access to the page's storage.

import { get, set } from 'idb-keyval';
import type { Gpu } from '../gpu/device';
import type { ModelConfig } from '../model/config';
import { ATTENTION_NAMES, type AttentionProfile, attentionShaderHash } from '../model/llama';
import type { KvType } from './protocol';

/** A database that does not open in this time counts as refused: some browsers never answer. */
const PATIENCE_MS = 2000;
const MAX_ENTRIES = 64;

/** Measurements hold for one GPU with its capabilities, one browser, one shape of heads, and these shaders. */
export function profileKey(gpu: Gpu, { nHeads, nKvHeads, headDim }: ModelConfig, kvType: KvType): string {
  const browser = globalThis.navigator?.userAgent;
  const parts = [gpu.adapterName, gpu.can, browser, nHeads, nKvHeads, headDim, kvType, attentionShaderHash()];
  return `vivace/attention/${JSON.stringify(parts)}`;
}

export async function loadProfile(key: string): Promise<AttentionProfile | null> {
  try {
    return parseProfile(await soon(get(key)));
  } catch {
    return null;
  }
}

/** Whether it was kept. */
export async function storeProfile(key: string, profile: AttentionProfile): Promise<boolean> {
  try {
    await soon(set(key, profile));
    return true;
  } catch {
    return false;
  }
}

/** A copy of what is sound through and through, or null. */
export function parseProfile(value: unknown): AttentionProfile | null {
  if (!isRecord(value) || typeof value.tunedAt !== 'string' || !/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value.tunedAt)) {
    return null;
  }
  const prefill = parseTuned(value.prefill);
  if (!prefill || !Array.isArray(value.decode) || value.decode.length > MAX_ENTRIES) return null;
  const decode: AttentionProfile['decode'] = [];
  for (const entry of value.decode as unknown[]) {
    const tuned = parseTuned(entry);
    const kvLen = isRecord(entry) ? entry.kvLen : null;
    if (!tuned || !isCount(kvLen) || kvLen <= (decode.at(-1)?.kvLen ?? 0)) return null;
    decode.push({ ...tuned, kvLen });
  }
  return { prefill, decode, tunedAt: value.tunedAt };
}

function parseTuned(value: unknown): AttentionProfile['prefill'] | null {
  if (!isRecord(value) || !isRecord(value.parameters)) return null;
  const name = ATTENTION_NAMES.find((known) => known === value.name);
  const { ms } = value;
  const parameters = Object.entries(value.parameters);
  if (!name || typeof ms !== 'number' || !(ms >= 0 && ms < 1e9) || parameters.length > MAX_ENTRIES) return null;
  if (!parameters.every(([key, number]) => /^[A-Z][A-Z0-9_]{0,31}$/.test(key) && isCount(number))) return null;
  return { name, parameters: Object.fromEntries(parameters) as Record<string, number>, ms };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) < 2 ** 31;
}

function soon<T>(promise: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('The database does not answer.')), PATIENCE_MS);
  });
  return Promise.race([promise, late]);
}
