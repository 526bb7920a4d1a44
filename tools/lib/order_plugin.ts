// The order of modules in the bundles. gzip finds repetitions up to 32 KB apart, so modules that are alike lie side by
// side: about 3 KB less for the script tag with its panel than in the order in which modules happen to import.

import type { Plugin } from 'vite';
import { shadersOfEngine } from './wgsl_plugin.ts';

/** Modules of both the page's and the worker's code, placed where the two meet. */
const SHARED = ['comlink', '/src/errors', '/src/storage/hub/hub_address'];

/** Each module stands behind everything that it imports. */
const WORKER = [
  '/src/text/template/chat_template',
  '/src/text/decode/graphemes',
  '/src/text/encode/pre_tokenizer',
  '/src/text/any_tokenizer',
  '/src/text/tokenizer',
  '/src/model/config/read_gguf',
  '/src/model/config/read',
  '/src/cpu/llama',
  '/src/gpu/readback',
  '/src/cpu/quantize',
  '/src/tune/roofline',
  '/src/tune/tune',
  '/src/engine/load/load',
];

/** Of those above, what the core of a worker in parts does not need (worker_parts). */
const LATER =
  /\/(?:attention\/(?:eager|chunked)\.wgsl|constraint\/|shaders\/step\/|tune\/|pre_tokenizer$|any_tokenizer$|config\/read$|cpu\/llama$|cpu\/quantize$)/;
/** What several parts need, and so the core has. */
const OF_PARTS = [
  '/src/tune/random_floats',
  '/src/cpu/grammar',
  '/src/engine/backend/next_task',
  '/src/sampling/token_bytes',
];
const EMBED = [
  '/src/embed/embed_session',
  'streaming-markdown',
  '/src/ui/chat/chat_run',
  '/src/ui/markdown/markdown',
  '/src/ui/turn/turn_editor',
];

const PANEL = [
  'lit',
  'uplot',
  '/src/metrics/chart/chart_styles',
  '/src/metrics/panel/panel_styles',
  '/src/metrics/tuning/tune_styles',
];

/** The first modules of each bundle, by the end of the path of its entry. */
const ORDERS: Record<string, (isWhole: boolean) => Promise<string[]>> = {
  '/src/engine/worker/worker.ts': async (isWhole) => {
    const shaders = (await shadersOfEngine()).map((file) => `/shaders/${file}?raw`);
    const all = [...SHARED, ...shaders, ...WORKER];
    return isWhole ? all : [...all.filter((module) => !LATER.test(module)), ...OF_PARTS];
  },
  '/src/engine/page/worker_source.ts': async () => SHARED,
  '/src/embed/embed.ts': async () => EMBED,
  '/src/embed/panel_entry.ts': async () => PANEL,
};

/**
 * Adds imports that change nothing but the order.
 * @param isWhole the worker in one file, not in parts
 */
export function orderPlugin(isWhole = true): Plugin {
  return {
    name: 'order',
    apply: 'build',
    enforce: 'pre',
    async transform(code, id) {
      const order = Object.entries(ORDERS).find(([entry]) => id.endsWith(entry))?.[1];
      if (!order) return null;
      return (await order(isWhole)).map((module) => `import ${JSON.stringify(module)};`).join('') + code;
    },
  };
}
