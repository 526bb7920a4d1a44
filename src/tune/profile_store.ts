// Keeps what the tuners measured, in IndexedDB. Never throws: without storage there is no profile.
// What is read back is as untrusted as a file: another version wrote it, or anyone with access to the page's storage.

import { get, set, update } from 'idb-keyval';
import { ATTENTION_NAMES } from '../attention/attention';
import type { AttentionProfile } from '../attention/profile';
import type { KvType } from '../engine/protocol';
import type { Gpu } from '../gpu/device';
import type { ModelConfig } from '../model/config/config';
import { isJsonObject } from '../shared/json_object';
import { withTimeout } from '../shared/with_timeout';
import type { MatvecParameters, ProductProfile, Tiles } from './products';
import { shaderHash } from './shader_hash';

/** A database that does not open in this time counts as refused: some browsers never answer. */
const TIMEOUT_MS = 2000;
const MAX_ENTRIES = 64;
const MAX_SHAPES = 256;
const DATE = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** As productKey makes it. */
const PRODUCT_KEY = /^[a-z][a-z0-9_]{0,31} \d{1,9}x\d{1,9} [a-z0-9_]{2,4} [a-z0-9_]{2,16}$/;
const MATVEC_NAMES = ['WORKGROUP', 'LANES', 'GROUP_ROWS', 'SLOTS', 'TURNS'] as const;
const TILE_NAMES = ['rowThreads', 'tokenThreads', 'tokensEach', 'stages'] as const;

/** Measurements hold for one GPU with its capabilities, one browser, one shape of heads, cap, windows, and these shaders. */
export function profileKey(gpu: Gpu, config: ModelConfig, kvType: KvType): string {
  const { nHeads, nKvHeads, headDim, attentionSoftcap, layers } = config;
  const browser = globalThis.navigator?.userAgent;
  const windows = [...new Set(layers.map(({ window }) => window))];
  const heads = [nHeads, nKvHeads, headDim, kvType, attentionSoftcap !== null, windows];
  const parts = [gpu.adapterName, gpu.can, browser, ...heads, shaderHash()];
  return `vivace/attention/${JSON.stringify(parts)}`;
}

/** Matrix shapes of all models share one profile: measurements hold for one GPU, one browser, and these shaders. */
export function productProfileKey(gpu: Gpu): string {
  const parts = [gpu.adapterName, gpu.can, globalThis.navigator?.userAgent, shaderHash()];
  return `vivace/products/1/${JSON.stringify(parts)}`;
}

export async function loadProductProfile(key: string): Promise<ProductProfile | null> {
  try {
    return parseProductProfile(await withTimeout(() => get(key), TIMEOUT_MS));
  } catch {
    return null;
  }
}

/** Adds to what is there; newer shapes replace older ones. Whether it was kept. */
export async function storeProductProfile(key: string, profile: ProductProfile): Promise<boolean> {
  try {
    const merge = (old: unknown) => mergeProductProfiles(parseProductProfile(old), profile);
    await withTimeout(() => update(key, merge), TIMEOUT_MS);
    return true;
  } catch {
    return false;
  }
}

/** Where both together are too many, the newer one alone. */
export function mergeProductProfiles(old: ProductProfile | null, newer: ProductProfile): ProductProfile {
  const products = { ...old?.products, ...newer.products };
  const tiles = { ...old?.tiles, ...newer.tiles };
  const tooMany = [products, tiles].some((entries) => Object.keys(entries).length > MAX_SHAPES);
  return tooMany ? newer : { products, tiles, tunedAt: newer.tunedAt };
}

/** A copy of what is sound through and through, or null. Whether it fits a GPU is asked when it is used. */
export function parseProductProfile(value: unknown): ProductProfile | null {
  if (!isJsonObject(value) || !isDate(value.tunedAt)) return null;
  const products = parseShapes(value.products, (entry) => parseNumbers(entry, MATVEC_NAMES) as MatvecParameters | null);
  const tiles = parseShapes(value.tiles, parseTiles);
  return products && tiles && { products, tiles, tunedAt: value.tunedAt };
}

function parseShapes<T>(value: unknown, parse: (entry: unknown) => T | null): Record<string, T> | null {
  if (!isJsonObject(value)) return null;
  const entries = Object.entries(value);
  if (entries.length > MAX_SHAPES) return null;
  const parsed: Record<string, T> = {};
  for (const [key, entry] of entries) {
    const sound = PRODUCT_KEY.test(key) ? parse(entry) : null;
    if (sound === null) return null;
    parsed[key] = sound;
  }
  return parsed;
}

function parseTiles(value: unknown): Tiles | null {
  const tiles = parseNumbers(value, TILE_NAMES);
  if (!tiles || (tiles.tokensEach !== 4 && tiles.tokensEach !== 8)) return null;
  return tiles.stages === 1 || tiles.stages === 2 ? (tiles as unknown as Tiles) : null;
}

/** Powers of two up to 2^16, all that such parameters can be. */
function parseNumbers<Name extends string>(value: unknown, names: readonly Name[]): Record<Name, number> | null {
  if (!isJsonObject(value)) return null;
  const numbers = names.map((name) => value[name]);
  if (!numbers.every((n) => isCount(n) && n <= 2 ** 16 && Number.isInteger(Math.log2(n)))) return null;
  return Object.fromEntries(names.map((name, i) => [name, numbers[i]])) as Record<Name, number>;
}

export async function loadProfile(key: string): Promise<AttentionProfile | null> {
  try {
    return parseProfile(await withTimeout(() => get(key), TIMEOUT_MS));
  } catch {
    return null;
  }
}

/** Whether it was kept. */
export async function storeProfile(key: string, profile: AttentionProfile): Promise<boolean> {
  try {
    await withTimeout(() => set(key, profile), TIMEOUT_MS);
    return true;
  } catch {
    return false;
  }
}

/** A copy of what is sound through and through, or null. */
export function parseProfile(value: unknown): AttentionProfile | null {
  if (!isJsonObject(value) || !isDate(value.tunedAt)) return null;
  const prefill = parseTuned(value.prefill);
  if (!prefill || !Array.isArray(value.decode) || value.decode.length > MAX_ENTRIES) return null;
  const decode: AttentionProfile['decode'] = [];
  for (const entry of value.decode as unknown[]) {
    const tuned = parseTuned(entry);
    const kvLen = isJsonObject(entry) ? entry.kvLen : null;
    if (!tuned || !isCount(kvLen) || kvLen <= (decode.at(-1)?.kvLen ?? 0)) return null;
    decode.push({ ...tuned, kvLen });
  }
  return { prefill, decode, tunedAt: value.tunedAt };
}

function parseTuned(value: unknown): AttentionProfile['prefill'] | null {
  if (!isJsonObject(value) || !isJsonObject(value.parameters)) return null;
  const name = ATTENTION_NAMES.find((known) => known === value.name);
  const { ms } = value;
  const parameters = Object.entries(value.parameters);
  if (!name || typeof ms !== 'number' || !(ms >= 0 && ms < 1e9) || parameters.length > MAX_ENTRIES) return null;
  if (!parameters.every(([key, number]) => /^[A-Z][A-Z0-9_]{0,31}$/.test(key) && isCount(number))) return null;
  return { name, parameters: Object.fromEntries(parameters) as Record<string, number>, ms };
}

function isDate(value: unknown): value is string {
  return typeof value === 'string' && DATE.test(value);
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) < 2 ** 31;
}
