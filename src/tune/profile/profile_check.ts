// The check of a stored profile, and what becomes of it with newer measurements. A stored profile is as untrusted as a
// file: another version wrote it, or anyone with access to the page's storage.

import { ATTENTION_NAMES } from '../../attention/attention';
import type { AttentionProfile, TunedAttention } from '../../attention/profile';
import { MOST_SHARES, type Tiles } from '../../kernels/linear/matmul_plan';
import type { MatvecParameters } from '../../kernels/linear/matvec_plan';
import type { TunedStep } from '../../model/step/step_choice';
import { isJsonObject } from '../../shared/json_object';
import type { PassRace, RaceTime } from '../results';
import type { KeptRace, Profile } from './profile';

/** The most entries of a list or record within one attention profile. */
const MAX_ENTRIES = 64;
/** The most keys of each record of a profile. */
const MAX_SHAPES = 256;
const DATE = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** The keys that `attentionKey` makes. */
const ATTENTION_KEY = /^\d{1,4}x\d{1,4}x\d{1,4} (f16|f32|q8)( softcap)?( all)? windows [\d,]+$/;
/** The keys that productKey makes. */
const PRODUCT_KEY = /^[a-z][a-z0-9_]{0,31} \d{1,9}x\d{1,9} [a-z0-9_]{2,4} [a-z0-9_]{2,16}$/;
/** The keys that `stepKey` makes. */
const STEP_KEY = /^[\w.-]{1,32} [\dx]{5,20} heads [\dx]{5,14} [a-z0-9_+]{2,64} kv (f16|f32|q8) \d{1,10} (q8|f32)$/;
/** The keys that `raceKey` makes. */
const RACE_KEY = /^[a-z0-9_]{2,4} \d{1,9}x\d{1,9} \d{1,4}$/;
/** The longest kept reason; longer than any that this engine gives. No control characters, no markup. */
const REASON = /^[^\p{Cc}<>]{1,200}$/u;
/** Bounds of a fused step's parameters and of its gain. */
const MAX_GROUPS = 1024;
const MAX_THREADS = 1024;
const MAX_SPINS = 2 ** 30;
const MAX_GAIN = 1000;
/** Bound of the milliseconds of a raced run. */
const MAX_RACE_MS = 1e4;
/** Choices of products in f32, by the ends of their keys: those of piecesOf (kernels/linear/matvec_f32.ts). */
const MATVEC_CHOICES = { STAGED_X: / f32$/, PLACED_WEIGHTS: / (q4|q8) f32$/ };
const MATVEC_NAMES = ['WORKGROUP', 'LANES', 'GROUP_ROWS', 'SLOTS', 'TURNS'] as const;
const TILE_NAMES = ['rowThreads', 'tokenThreads', 'tokensEach', 'stages', 'kShares'] as const;

/** The entries of both. A record with too many of them keeps the newer ones alone. */
export function mergeProfiles(old: Profile | null, newer: Partial<Profile>): Profile {
  const merged = <T>(before: Readonly<Record<string, T>> = {}, after: Readonly<Record<string, T>> = {}) => {
    const both = { ...before, ...after };
    return Object.keys(both).length > MAX_SHAPES ? after : both;
  };
  return {
    attention: merged(old?.attention, newer.attention),
    step: merged(old?.step, newer.step),
    race: merged(old?.race, newer.race),
    matvec: merged(old?.matvec, newer.matvec),
    tiles: merged(old?.tiles, newer.tiles),
  };
}

/** A copy of a profile that is sound in every part, or null. Whether it fits a GPU is decided on use. */
export function parseProfile(value: unknown): Profile | null {
  if (!isJsonObject(value)) return null;
  const attention = parseEntries(value.attention, ATTENTION_KEY, parseAttention);
  const step = parseEntries(value.step, STEP_KEY, parseStep);
  const race = parseEntries(value.race ?? {}, RACE_KEY, parseRace); // profiles before it have none
  const matvec = parseEntries(value.matvec, PRODUCT_KEY, parseMatvec);
  const tiles = parseEntries(value.tiles, PRODUCT_KEY, parseTiles);
  return attention && step && race && matvec && tiles && { attention, step, race, matvec, tiles };
}

function parseEntries<T>(
  value: unknown,
  keys: RegExp,
  parse: (entry: unknown, key: string) => T | null,
): Record<string, T> | null {
  if (!isJsonObject(value)) return null;
  const entries = Object.entries(value);
  if (entries.length > MAX_SHAPES) return null;
  const parsed: Record<string, T> = {};
  for (const [key, entry] of entries) {
    const sound = keys.test(key) ? parse(entry, key) : null;
    if (sound === null) return null;
    parsed[key] = sound;
  }
  return parsed;
}

function parseStep(value: unknown): TunedStep | null {
  if (!isJsonObject(value)) return null;
  const { name, reason, gain, groups, threads, spins, lanesFrom, until } = value;
  if ((name !== 'fused' && name !== 'plain') || typeof reason !== 'string' || !REASON.test(reason)) return null;
  if (gain !== null && !(typeof gain === 'number' && gain > -1 && gain < MAX_GAIN)) return null;
  if (!isCount(groups) || groups > MAX_GROUPS || !isCount(threads) || threads > MAX_THREADS) return null;
  if (!isCount(spins) || spins > MAX_SPINS || !isCount(lanesFrom) || !isCount(until)) return null;
  return { name, reason, gain, groups, threads, spins, lanesFrom, until };
}

function parseRace(value: unknown): KeptRace | null {
  if (!isJsonObject(value)) return null;
  const { clock } = value;
  const [decode, prefill] = [parsePassRace(value.decode), parsePassRace(value.prefill)];
  return decode && prefill && (clock === 'gpu' || clock === 'cpu') ? { clock, decode, prefill } : null;
}

function parsePassRace(value: unknown): PassRace | null {
  if (!isJsonObject(value)) return null;
  const [q8, f32] = [parseRaceTime(value.q8), parseRaceTime(value.f32)];
  return q8 && f32 && { q8, f32 };
}

function parseRaceTime(value: unknown): RaceTime | null {
  if (!isJsonObject(value)) return null;
  const { ms, spread } = value;
  if (!(typeof ms === 'number' && ms > 0 && ms < MAX_RACE_MS)) return null;
  return typeof spread === 'number' && spread >= 0 && spread <= 1 ? { ms, spread } : null;
}

function parseMatvec(value: unknown, key: string): MatvecParameters | null {
  const numbers = parseNumbers(value, MATVEC_NAMES);
  if (!numbers || !isJsonObject(value)) return null;
  const chosen = Object.entries(MATVEC_CHOICES).filter(([name]) => value[name] !== undefined);
  if (!chosen.every(([name, offered]) => value[name] === 1 && offered.test(key))) return null;
  return { ...numbers, ...Object.fromEntries(chosen.map(([name]) => [name, 1])) };
}

function parseTiles(value: unknown): Tiles | null {
  const tiles = parseNumbers(value, TILE_NAMES);
  if (!tiles || (tiles.tokensEach !== 4 && tiles.tokensEach !== 8)) return null;
  if (tiles.stages > 2 || tiles.kShares > MOST_SHARES) return null;
  return tiles as unknown as Tiles;
}

/** Powers of two up to 2^16: every valid parameter is one. */
function parseNumbers<Name extends string>(value: unknown, names: readonly Name[]): Record<Name, number> | null {
  if (!isJsonObject(value)) return null;
  const numbers = names.map((name) => value[name]);
  if (!numbers.every((n) => isCount(n) && n <= 2 ** 16 && Number.isInteger(Math.log2(n)))) return null;
  return Object.fromEntries(names.map((name, i) => [name, numbers[i]])) as Record<Name, number>;
}

function parseAttention(value: unknown): AttentionProfile | null {
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

function parseTuned(value: unknown): TunedAttention | null {
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
