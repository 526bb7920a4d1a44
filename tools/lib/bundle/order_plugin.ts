// The order of modules in the bundles. gzip finds repetitions up to 32 KB apart, so modules that are alike lie side by
// side: about 3 KB less for the script tag with its panel than in the order in which modules happen to import.
// `npm run bundle-order` finds such orders by trying thousands.

import path from 'node:path';
import { type Plugin, parseAst, type Rolldown } from 'vite';
import { ROOT } from '../ensure.mjs';
import { shadersOfEngine } from './wgsl_plugin.ts';

/** In a list: all shaders, from the last to the first. */
export const SHADERS = '/shaders/';

/** Modules of both the page's and the worker's code, placed where the two meet. */
const SHARED = ['/node_modules/comlink/dist/esm/comlink.mjs', '/src/errors', '/src/storage/hub/hub_address'];

/** Each module stands behind everything that it imports. */
const WORKER = [
  '/src/engine/backend/backend',
  '/src/tune/profile/shader_hash',
  SHADERS,
  '/src/text/vocabulary/gguf_pre_types',
  '/src/storage/formats/ggml_types',
  '/node_modules/@huggingface/jinja/dist/index.js',
  '/src/text/template/jinja/strftime',
  '/src/engine/tbt',
  '/src/text/encode/min_heap',
  '/src/text/template/jinja/python',
  '/src/text/template/chat_template',
  '/src/text/decode/token_bytes',
  '/src/text/answer/answer_form',
  '/src/text/encode/text_pipeline',
  '/src/shared/known_names',
  '/src/text/answer/answer_parser',
  '/src/engine/worker/request/chat_checks',
  '/src/storage/checks/json',
  '/src/storage/formats/gguf',
  '/src/sampling/logprobs',
  '/src/engine/worker/request/prompt',
  '/src/engine/worker/serve',
  '/src/engine/load/sampling_defaults',
  '/src/storage/cache/cache',
  '/src/storage/prompts/has_prompts',
  '/src/engine/failure',
  '/src/engine/load/load_again',
  '/src/storage/model_file',
  '/src/storage/source/hash_port',
  '/src/gpu/readback',
  '/src/model/config/architectures',
  '/src/model/config/read_gguf',
  '/src/cpu/rope',
  '/src/gpu/timestamps',
  '/src/model/weights/tensor_names',
  '/src/model/config/config',
  '/src/tune/profile/profile_store',
  '/src/attention/prefill/flash_prefill',
  '/src/attention/select',
  '/src/attention/check',
  '/src/engine/load/load',
  '/src/engine/worker/steps/token_clock',
  '/src/engine/worker/steps/give_ups',
];

const EMBED = [
  '/src/embed/session/embed_session',
  '/src/embed/shared/warnings_for',
  '/src/ui/markdown/frame_budget',
  '/src/ui/markdown/footnotes',
  '/src/embed/fetch/translations',
  '/src/shared/unique_id',
  '/src/ui/turn/copy',
  '/src/ui/settings/settings_presets',
  '/src/ui/chat/gate',
  '/src/embed/tag/options',
  '/src/ui/markdown/markdown',
  '/node_modules/lit-html/directives/repeat.js',
  '/src/shared/format',
  '/src/ui/chat/chat_run',
  '/src/embed/tag/widget_host',
  '/src/ui/shared/field_height',
  '/src/ui/shared/input_method',
  '/src/ui/chat/chat_session',
  '/src/embed/shared/protect',
  '/src/ui/shared/icons',
  '/src/ui/chat/chat_styles',
  '/src/ui/turn/thought_styles',
  '/src/ui/turn/turn',
  '/src/embed/tag/widget_styles',
  '/src/ui/turn/turn_editor',
  '/src/ui/settings/settings',
];

const PANEL = [
  '/node_modules/uplot/dist/uPlot.esm.js',
  '/node_modules/lit-html/directive-helpers.js',
  '/src/shared/why',
  '/node_modules/lit-html/directives/repeat.js',
  '/src/embed/shared/protect',
  '/src/embed/fetch/own_script',
  '/src/metrics/chart/chart_styles',
  '/src/metrics/panel/panel_styles',
  '/src/metrics/repeat/repeat_styles',
  '/src/metrics/history/runs_styles',
  '/src/metrics/tuning/tune_styles',
  '/src/metrics/run/run_parse',
  '/src/metrics/tuning/tune_texts',
  '/src/metrics/run/run_origin',
  '/src/engine/step_text',
  '/src/metrics/run/kept_run',
  '/src/metrics/panel/figures',
  '/src/metrics/chart/plot/tbt_chart',
  '/src/metrics/chart/views/tokens_view',
  '/src/embed/fetch/shared_texts',
  '/src/metrics/repeat/measure',
  '/src/metrics/chart/legend',
];

/** The first modules of each bundle, by the end of the path of its entry. */
const ORDERS: Readonly<Record<string, readonly string[]>> = {
  '/src/engine/worker/worker.ts': WORKER,
  '/src/engine/page/worker_code/worker_source.ts': SHARED,
  '/src/embed/tag/embed.ts': EMBED,
  '/src/embed/beside/panel_entry.ts': PANEL,
};

const orderOf = (entry: string) => Object.entries(ORDERS).find(([end]) => entry.endsWith(end))?.[1];

/** A module's name in a list, by its path. */
export const nameOf = (id: string): string =>
  `/${path.relative(ROOT, id).split(path.sep).join('/')}`.replace(/\.ts$/, '');

/** The shaders among modules, in the order in which a list with SHADERS has them. */
export const shadersAmong = (ids: readonly string[]): string[] =>
  ids
    .filter((id) => nameOf(id).startsWith(SHADERS))
    .toSorted()
    .toReversed();

/** Those of the modules that the list of an entry names, in its order. */
export function firstModules(entry: string, ids: readonly string[]): string[] {
  const named = (name: string) => (name === SHADERS ? shadersAmong(ids) : ids.filter((id) => nameOf(id) === name));
  return orderOf(entry)?.flatMap(named) ?? [];
}

type Context = Rolldown.PluginContext;

/** The modules that a module imports at once, and those that they import. */
async function importedAtOnce(context: Context, code: string, id: string): Promise<Set<string>> {
  const imports = parseAst(code, { lang: 'ts' }).body.filter((node) => node.type === 'ImportDeclaration');
  const values = imports.filter(({ importKind }) => importKind !== 'type').map(({ source }) => source.value);
  const found = await Promise.all(values.map((file) => context.resolve(file, id)));
  const reached = new Set(found.flatMap((module) => module?.id ?? []));
  for (const each of reached) {
    const { importedIds } = await context.load({ id: each });
    for (const imported of importedIds) reached.add(imported); // a set goes on with what joins it
  }
  return reached;
}

/**
 * Adds imports that change nothing but the order.
 * @param isWhole the bundle has one file. If not, what is imported later stays out of its core.
 */
export function orderPlugin(isWhole = true): Plugin {
  return {
    name: 'order',
    apply: 'build',
    enforce: 'pre',
    async transform(code, id) {
      const names = orderOf(id);
      if (!names) return null;
      const shaders = (await shadersOfEngine()).map((file) => `${SHADERS}${file}?raw`).reverse();
      const order = names.flatMap((name) => (name === SHADERS ? shaders : [name]));
      const atOnce = isWhole ? null : await importedAtOnce(this, code, id);
      const ids = await Promise.all(order.map((module) => this.resolve(module, id)));
      const ordered = order.filter((_, i) => !atOnce || atOnce.has(ids[i]?.id ?? ''));
      return ordered.map((module) => `import ${JSON.stringify(module)};`).join('') + code;
    },
  };
}
