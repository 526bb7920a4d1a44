// Cases of scores that are made otherwise than in most models: another scale, a cap, windows. One shape, so one kernel.

import type { AttentionShape } from '../../../src/attention/attention';
import { type AttentionCase, type Fill, first, plainScores, SMALL } from '../cases';

/**
 * A factor that is not 1 / sqrt(head_dim), a cap that bends most scores, and windows; a group of 3, whose rows cross
 * tokens.
 */
export function scored(kvType: 'f16' | 'f32'): AttentionShape {
  const heads = { nHeads: 6, nKvHeads: 2, headDim: 64 };
  return { ...heads, contextLength: 300, maxTokens: 70, kvType, scale: 1, softcap: 20, windowed: true };
}

/** Passes over rings that began again: where the pass, its window or both cross the end, and a ring as short as can be. */
const RINGS: [position: number, nTokens: number, window: number, room: number][] = [
  [261, 1, 130, 130],
  [255, 1, 128, 256],
  [257, 1, 128, 129],
  [130, 41, 64, 104],
  [150, 41, 33, 160],
];

/** Around every sibling's tiles, from one key to more than there are; by position and number of tokens. */
const WINDOWS: [position: number, nTokens: number, windows: (number | null)[]][] = [
  [0, 1, [1, null]],
  [261, 1, [1, 2, 127, 128, 129, 134, 261, 262, 2 ** 40, null]], // 134: two tiles of 128, and 128 keys hidden
  [0, 64, [1, 16, 63, 64]],
  [130, 41, [1, 31, 32, 33, 64, 65, 128, 170, 171, null]],
  [290, 5, [3, 100]],
];

/** Kernels that take cap and windows, for models with such scores. */
export function scoredCases(kvType: 'f16' | 'f32'): AttentionCase[] {
  const shape = scored(kvType);
  const windows = WINDOWS.flatMap(([position, nTokens, all]) =>
    all.map((window): AttentionCase => {
      const title = `position=${position} n_tokens=${nTokens} window=${window ?? 'none'} capped ${kvType}`;
      return { title, shape, position, nTokens, window };
    }),
  );
  const capped = (title: string, fill: Fill): AttentionCase[] => [
    { title: `${title}, capped, decode`, shape, position: 260, nTokens: 1, fill },
    { title: `${title}, capped, prefill`, shape, position: 40, nTokens: 20, window: 30, fill },
  ];
  const rings = RINGS.map(([position, nTokens, window, room]): AttentionCase => {
    const title = `position=${position} n_tokens=${nTokens} window=${window} ring of ${room} ${kvType}`;
    return { title, shape, position, nTokens, window, room };
  });
  return [
    ...windows,
    ...rings,
    ...capped('scores of +-8e4 and far apart', { q: first(800), k: (key, d) => (d ? 0 : 100 * Math.sin(key * key)) }),
    ...capped('scores from -1e20 to -3e22', { q: first(1e10), k: (key, d) => (d ? 0 : -1e10 * (1 + key)) }),
    ...capped('scores near 0', { q: first(1), k: (key, d) => (d ? 0 : 1e-3 * Math.sin(key)) }),
  ];
}

/** Passes without a causal mask, from one token to more than a block, and windows around the tiles of every sibling. */
const WHOLE: [nTokens: number, windows: (number | null)[]][] = [
  [1, [1, null]],
  [2, [1, 2]],
  [63, [32, null]],
  [64, [1, 33]],
  [65, [31, 65, 2 ** 40]],
  [130, [64, 129, null]],
];

/** Kernels that see the keys behind a token, too: with windows on the path with all capabilities, without on the other. */
export function bothWaysCases(isPlain: boolean): AttentionCase[] {
  const kvType = isPlain ? 'f32' : 'f16';
  const heads = { nHeads: 6, nKvHeads: 2, headDim: 64, contextLength: 150, maxTokens: 150, kvType } as const;
  const shape = { ...heads, ...plainScores(64), windowed: !isPlain, causal: false };
  return WHOLE.flatMap(([nTokens, windows]) =>
    (isPlain ? [null] : windows).map((window): AttentionCase => {
      const title = `both ways, n_tokens=${nTokens} window=${window ?? 'none'} ${kvType}`;
      return { title, shape, position: 0, nTokens, window };
    }),
  );
}

/**
 * Either without the other, which is other libraries: windows on the path with all capabilities, a cap on the plain
 * one.
 */
export function eitherCases(isPlain: boolean): AttentionCase[] {
  const changes = isPlain ? { softcap: 0.5 } : { windowed: true };
  const shape = { ...SMALL, contextLength: 150, ...plainScores(32), ...changes };
  const window = isPlain ? null : 10;
  const title = isPlain ? 'capped, no windows' : `window=${window}, no cap`;
  return [
    { title: `${title}, decode`, shape, position: 140, nTokens: 1, window }, // a tile of 128 keys hidden
    { title: `${title}, prefill`, shape, position: 30, nTokens: 19, window },
  ];
}
