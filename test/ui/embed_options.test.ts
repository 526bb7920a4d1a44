import { expect, test } from 'vitest';
import { readEmbedOptions } from '../../src/embed/options';

const SCRIPT = 'https://cdn.example.com/vivace/embed.js';
const PAGE = 'https://shop.example.com/help/';

test('a bare tag brings the storyteller that lies beside the script', () => {
  expect(readEmbedOptions({}, SCRIPT, PAGE)).toEqual({
    model: 'https://cdn.example.com/vivace/models/storyteller/storyteller-q8_0.gguf',
    title: 'Vivace',
    theme: 'auto',
    position: 'bottom-right',
    system: '',
    welcome: '',
    metrics: false,
    examples: [],
  });
});

test('a model is found from the page, and unknown words fall back to the defaults', () => {
  const data = { model: '../m.gguf', theme: 'pink', position: 'bottom-left', metrics: '', examples: ' a | |b ' };
  expect(readEmbedOptions(data, SCRIPT, PAGE)).toMatchObject({
    model: 'https://shop.example.com/m.gguf',
    theme: 'auto',
    position: 'bottom-left',
    metrics: true,
    examples: ['a', 'b'],
  });
});
