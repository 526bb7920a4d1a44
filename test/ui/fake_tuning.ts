// Results of a tuner in made-up times: eight combinations with one refused, more candidates after them, and decode at
// three cache lengths.

import type { AttentionResult, TuneResult } from '../../src/engine/protocol';

const COMBINATIONS = [
  ['A', 32, 32, 32, 0.0412],
  ['B', 32, 32, 64, 0.0371],
  ['C', 32, 64, 32, 0.0405],
  ['D', 32, 64, 64, 0.0298],
  ['E', 64, 32, 32, 0.0466],
  ['F', 64, 64, 64, null],
  ['G', 32, 32, 128, 0.0497],
  ['H', 32, 16, 16, 0.1203],
] as const;

const REFUSED =
  'Attention "flash_prefill" cannot run here: it needs 36864 bytes of workgroup memory, this GPU grants 32768. Use "auto" or another sibling.';

function prefill(
  combination: string | null,
  name: AttentionResult['name'],
  parameters: Record<string, number>,
  ms: number | null,
): AttentionResult {
  const refused = ms === null ? REFUSED : null;
  return {
    pass: 'prefill',
    combination,
    name,
    parameters,
    nTokens: 256,
    kvLen: 1024,
    ms,
    refused,
    fastest: combination === 'D',
  };
}

function decode(
  kvLen: number,
  name: AttentionResult['name'],
  parameters: Record<string, number>,
  ms: number | null,
): AttentionResult {
  const fastest = kvLen > 256 ? parameters.SPLITS === 16 : parameters.BLOCK_N === 64;
  const refused = ms === null ? 'its numbers differ from the textbook by 0.31' : null;
  return { pass: 'decode', combination: null, name, parameters, nTokens: 1, kvLen, ms, refused, fastest };
}

/** All results in the order of measurement, with winners marked. */
export function fakeResults(): TuneResult[] {
  return [
    ...COMBINATIONS.map(([letter, m, n, dv, ms]) =>
      prefill(letter, 'flash_prefill', { BLOCK_M: m, BLOCK_N: n, DV_TILE: dv }, ms),
    ),
    prefill(null, 'flash_prefill', { BLOCK_M: 16, BLOCK_N: 32, DV_TILE: 64 }, 0.0322),
    prefill(null, 'chunked', { QUERY_CHUNK: 64 }, 0.2114),
    prefill(null, 'eager', {}, 0.3391),
    ...[256, 1024, 4096].flatMap((kvLen) => [
      decode(kvLen, 'fused_decode', { BLOCK_N: 64 }, 0.0000091 * kvLen + 0.0011),
      decode(kvLen, 'fused_decode', { BLOCK_N: 128 }, 0.0000102 * kvLen + 0.0012),
      decode(kvLen, 'split_kv_decode', { SPLITS: 8, BLOCK_N: 32 }, 0.0000021 * kvLen + 0.0035),
      decode(kvLen, 'split_kv_decode', { SPLITS: 16, BLOCK_N: 32 }, 0.0000012 * kvLen + 0.0038),
      decode(kvLen, 'split_kv_decode', { SPLITS: 32, BLOCK_N: 256 }, null),
    ]),
  ];
}
