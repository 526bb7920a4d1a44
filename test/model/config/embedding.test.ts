// The modules of sentence-transformers: the spellings that exist, and refusals.

import { describe, expect, test } from 'vitest';
import { embeddingFromModules } from '../../../src/model/config/embedding';
import type { ModelFiles } from '../../../src/storage/model_files';

type Module = NonNullable<ModelFiles['modules']>[number];

const module = (type: string, config: Module['config'] = null): Module => ({ type, path: `0_${type}`, config });
const pooling = module('Pooling', { pooling_mode: 'mean' });
const normalize = module('Normalize');
const linear = { in_features: 64, bias: false, activation_function: 'torch.nn.modules.linear.Identity' };

test('the pooling is named, or a flag in older files', () => {
  expect(embeddingFromModules([pooling])).toEqual({ pooling: 'mean', normalized: false, dense: [] });
  expect(embeddingFromModules([module('Pooling', { pooling_mode: 'lasttoken' })]).pooling).toBe('last');
  const flags = { pooling_mode_cls_token: false, pooling_mode_mean_tokens: false, pooling_mode_lasttoken: true };
  expect(embeddingFromModules([module('Pooling', flags)]).pooling).toBe('last');
});

test('linear layers keep their order, and a normalization comes last', () => {
  const dense = [256, 64].map((size) => module('Dense', { ...linear, out_features: size }));
  const read = embeddingFromModules([pooling, ...dense, normalize]);
  expect(read).toEqual({ pooling: 'mean', normalized: true, dense: [256, 64] });
});

describe('refusals', () => {
  const refused: [string, Module[], RegExp][] = [
    ['no modules', [], /module none in the place of the pooling/],
    ['no pooling', [normalize], /module Normalize in the place/],
    ['pooling of the first token', [module('Pooling', { pooling_mode_cls_token: true })], /of the kind cls_token/],
    ['two poolings', [module('Pooling', { pooling_mode_cls_token: true, pooling_mode_max_tokens: true })], /and max/],
    ['pooling of no kind', [module('Pooling')], /of the kind none/],
    ['other modules', [pooling, module('LSTM')], /module LSTM behind the pooling/],
    ['a normalization in the middle', [pooling, normalize, module('Dense', linear)], /Normalize behind the pooling/],
    ['a bias', [pooling, module('Dense', { ...linear, bias: true, out_features: 4 })], /with a bias/],
    ['a bias by default', [pooling, module('Dense', { out_features: 4 })], /with a bias/],
    ['an activation', [pooling, module('Dense', { ...linear, activation_function: 'torch.nn.Tanh' })], /activation/],
    ['an input of its own', [pooling, module('Dense', { ...linear, module_input_name: 'all' })], /input of its own/],
    [
      'endless layers',
      [pooling, module('Dense', { ...linear, out_features: 2 ** 30 })],
      /out_features must be a whole/,
    ],
    ['sizes of text', [pooling, module('Dense', { ...linear, out_features: 'wide' })], /out_features must be a number/],
  ];
  for (const [what, modules, message] of refused) {
    test(what, () => expect(() => embeddingFromModules(modules)).toThrow(message));
  }
});
