// The walls between rooms: reads the import lines of src/ and compares them with the tables below. A new room, sub-room
// or door is added to the tables on purpose, never by accident.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '..');
const SRC = path.join(ROOT, 'src');

/** The other rooms that each room may import. errors.ts is open to all. */
const ALLOWED: Record<string, readonly string[]> = {
  shared: [],
  // The service worker of the page, a program of its own.
  shell: [],
  words: [],
  gpu: ['shared'],
  text: ['shared'],
  storage: ['shared'],
  sampling: [],
  // A constraint on the answer, from its text to the tables that a kernel walks.
  grammar: ['shared'],
  cpu: ['grammar'],
  kernels: ['gpu', 'shared'],
  // Loading a model checks each kernel against the textbook, and the cpu kernel is the textbook.
  attention: ['gpu', 'cpu', 'shared'],
  // Tables and small vectors that a load computes on the CPU come from the textbook (rope, dequantize).
  model: ['gpu', 'kernels', 'attention', 'sampling', 'grammar', 'storage', 'cpu', 'shared'],
  tune: ['gpu', 'kernels', 'attention', 'model', 'cpu', 'shared'],
  engine: ['text', 'storage', 'model', 'attention', 'gpu', 'cpu', 'sampling', 'grammar', 'tune', 'shared'],
  // The parts of the page that ask servers, and other tabs.
  ui: ['engine', 'remote', 'shared', 'words', 'tabs'],
  metrics: ['engine', 'shared', 'words'],
  embed: ['engine', 'remote', 'shared', 'words', 'ui', 'metrics', 'tabs'],
  // Types of the engine alone: the bundles of this room take an engine that the page has.
  api: ['engine', 'shared'],
  // An engine that is a server somewhere else. Types of the engine, its options and the statistics of gaps.
  remote: ['engine', 'shared'],
  // An engine whose model is in another tab.
  tabs: ['engine', 'shared'],
};

/** The doors of each sub-room: its only files that other folders may import. */
const DOORS: Record<string, readonly string[]> = {
  'api/openai': ['fetch'],
  'api/openai/answer': ['completion', 'inbox', 'pieces', 'sse'],
  'api/openai/http': ['errors', 'http_request', 'wire_types'],
  'api/openai/request': ['constraint', 'messages', 'options', 'responses_request', 'schema', 'tools'],
  'api/prompt_api': [],
  'attention/baselines': ['baseline_plans', 'baselines'],
  'attention/decode': ['fused_decode', 'merged_q8', 'split_kv_decode'],
  'attention/prefill': ['flash_prefill', 'flash_prefill_q8', 'flash_prefill_q8_plan'],
  'embed/beside': ['code_entry', 'math_entry', 'words_de', 'words_ja'],
  'embed/elements': ['elements', 'elements_entry', 'metrics_for'],
  'embed/fetch': ['hand_over', 'load_part', 'panel_script', 'parts_beside', 'shared_texts', 'translations'],
  'embed/frameworks': [],
  'embed/remember': ['kept', 'kept_conversation'],
  'embed/server': ['served_chat', 'server_part'],
  'embed/session': ['embed_session', 'engine_pool', 'leavable'],
  'embed/shared': ['attributes', 'misspelled', 'protect', 'warnings_for'],
  'embed/tag': [],
  'engine/backend': ['backend', 'cpu_backend', 'webgpu_backend'],
  'engine/load': ['load'],
  'engine/page': ['answers', 'later', 'request', 'run_report'],
  'engine/page/constraint': ['asked_constraint', 'constrain'],
  'engine/page/host': ['connection', 'host', 'model_cache', 'phone', 'supervisor'],
  'engine/page/worker_code': ['own_worker', 'script_url'],
  'engine/worker': [],
  'engine/worker/batch': ['batches'],
  'engine/worker/prefix_cache': ['branches', 'late_branches', 'late_prompts', 'shared_prefix', 'stored_prompts'],
  'engine/worker/request': ['constrained', 'generate_options', 'patience', 'prompt', 'reuse', 'session'],
  'engine/worker/steps': ['answer', 'give_ups', 'ids_in_flight', 'run_ahead', 'run_metrics', 'token_clock'],
  'engine/worker/turns': ['beside', 'idle_check', 'pause', 'turns'],
  'kernels/constraint': ['advance', 'mask'],
  'grammar/answer': ['answer_grammar', 'control_bytes', 'control_range', 'form', 'tool_arguments'],
  'grammar/compile': ['compile', 'program'],
  'grammar/schema': ['json_schema', 'json_text'],
  'grammar/syntax': ['code_points', 'gbnf', 'letters', 'regex'],
  'kernels/elementwise': [
    'embed',
    'gated_unit',
    'last_row',
    'norm_rope',
    'pool',
    'post_norm',
    'quantize_activations',
    'quantize_wide',
  ],
  'kernels/linear': [
    'create_linear',
    'linear',
    'matmul_few',
    'matmul_plan',
    'matmul_matrices',
    'matmul_q8',
    'matvec',
    'matvec_plan',
    'placed_formats',
    'product_profile',
    'started',
    'weight_format',
  ],
  'kernels/linear/epilogues': [
    'gate_up',
    'gate_up_q8',
    'gate_up_rows_q8',
    'gate_up_tile_q8',
    'head',
    'head_rows',
    'qkv',
    'residual',
    'store',
  ],
  'kernels/load': ['file_types', 'repack'],
  'kernels/sampling': [
    'logit_bias',
    'logits_size',
    'logprob_parts',
    'logprobs',
    'maxima',
    'penalties',
    'sample',
    'sample_batch',
  ],
  'kernels/step': ['residency', 'step', 'step_plan'],
  'metrics/bench': [],
  'metrics/chart': ['chart_section'],
  'metrics/chart/plot': ['tbt_chart', 'zoom'],
  'metrics/chart/views': ['context_view', 'histogram_view', 'picture', 'place_parts', 'tokens_view'],
  'metrics/history': ['runs_rows', 'runs_section'],
  'metrics/panel': ['metrics_events', 'metrics_panel'],
  'metrics/repeat': ['measure', 'measured_figures', 'repeat_section', 'spread'],
  'metrics/run': ['export', 'kept_run', 'run_checks', 'run_data', 'run_origin', 'run_parse', 'run_record'],
  'metrics/shared': ['after_paint', 'draw_pacer', 'figure_format', 'icons'],
  'metrics/tuning': ['roofline_section', 'tune_section'],
  'model/batch': ['batch', 'batch_check', 'batch_time'],
  'model/config': ['config', 'read', 'read_gguf'],
  'model/kv': ['kv_branches', 'kv_cache', 'kv_parking', 'kv_pieces'],
  'model/layers': ['arithmetic', 'layers', 'linears', 'matrices', 'not_finite'],
  'model/output': ['constrainer', 'log_probabilities', 'logit_changes', 'pooling', 'sampler'],
  'model/step': ['create_fused', 'decode_step', 'fused_model', 'fused_step', 'step_choice'],
  'model/weights': ['checked_files', 'step_bytes', 'tensors', 'weights'],
  'remote/answer': ['event_stream', 'remote_answer'],
  'remote/hybrid': ['hybrid_engine', 'places'],
  'remote/request': ['request_body'],
  'remote/server': ['bounded_json', 'bytes', 'failures', 'model_card', 'server'],
  'storage/cache': [
    'cache',
    'cached_models',
    'manifest',
    'piece_store',
    'piece_threads',
    'tab_waits',
    'watched_stores',
  ],
  'storage/checks': ['bounds', 'json'],
  'storage/formats': ['gguf', 'gguf_parts', 'safetensors', 'shards', 'split_gguf', 'tensor', 'weight_names'],
  'storage/hub': ['hub_address', 'hub_model', 'model_url'],
  'storage/prompts': ['has_prompts', 'prompt_files', 'prompt_piece', 'prompt_store'],
  'storage/source': ['blob_source', 'byte_source', 'folder', 'hash_port', 'http', 'url_source', 'window_cache'],
  'text/answer': ['answer_form', 'answer_parser', 'answer_part', 'call_parser'],
  'text/decode': ['decoder_rules', 'shown_text', 'stream_decoder', 'token_bytes'],
  'text/encode': [
    'added_tokens',
    'encoder',
    'pre_tokenizer',
    'text_pipeline',
    'unigram_wordpiece',
    'word_model',
    'word_regexes',
  ],
  'text/vocabulary': ['gguf_vocabulary', 'special_tokens', 'tokenizer_json', 'vocabulary'],
  'text/template': ['chat_template', 'find_template', 'late_provenance', 'message'],
  'text/template/jinja': ['fuel', 'jinja_values', 'program'],
  'text/template/syntax': ['chat_syntax', 'literal_match', 'needles', 'template_traits', 'value_scanner'],
  'tune/attention': ['attention', 'attention_meter'],
  'tune/products': ['first_tuning', 'products'],
  'tune/profile': ['profile', 'profile_store', 'shader_hash'],
  'tune/race': ['arithmetic_choice', 'race', 'race_shape'],
  'ui/catalogue': ['catalogue_list', 'delete_model', 'follow_offers', 'next_step', 'offers', 'welcome'],
  'ui/catalogue/list': ['catalogue', 'catalogue_file'],
  'ui/catalogue/machine': ['experience', 'experience_store', 'fit', 'machine', 'recommend', 'speed'],
  'ui/attach': ['attach_button', 'files', 'read_files'],
  'ui/chat': ['chat', 'chat_dialogs', 'chat_events', 'chat_session', 'connect_panel', 'print_chat'],
  'ui/conversation': [
    'attachments',
    'continuation',
    'conversation',
    'conversation_file',
    'conversation_index',
    'conversation_merge',
    'conversation_parse',
    'conversation_store',
    'conversation_tree',
    'versions',
    'writers',
  ],
  'ui/library': ['library', 'library_keeper'],
  'ui/markdown': [
    'code_block_styles',
    'code_modes',
    'frame_budget',
    'json_view',
    'markdown',
    'markdown_text',
    'math_tex',
    'parts',
    'parts_by_import',
  ],
  'ui/model': ['loader', 'model_address', 'model_session', 'models', 'notices', 'open_model', 'page_options'],
  'ui/page': [],
  'ui/server': [
    'consent',
    'server_advice',
    'server_choice',
    'server_line',
    'server_section',
    'server_session',
    'server_store',
    'tongue',
  ],
  'ui/settings': ['answer_form', 'settings', 'settings_fields', 'settings_presets', 'settings_store'],
  'ui/shared': [
    'advice',
    'advice_detail',
    'amounts',
    'comes_later',
    'field_height',
    'icons',
    'input_method',
    'load_bar',
    'recovery',
    'sentences',
    'shared_styles',
  ],
  'ui/turn': ['turn', 'turn_editor'],
  'words/de': ['all', 'bench', 'chat', 'errors', 'kept', 'panel', 'reasons', 'server'],
  'words/en': ['bench', 'catalogue', 'chat', 'errors', 'figures', 'kept', 'page', 'panel', 'server'],
  'words/ja': ['all', 'bench', 'chat', 'errors', 'kept', 'panel', 'reasons', 'server'],
};

/** Folders that never import one another. */
const WALLS: readonly (readonly [string, string])[] = [
  ['api/openai/answer', 'api/openai/request'],
  ['engine/page', 'engine/worker'],
  ['engine/page', 'engine/load'],
  ['engine/page', 'engine/backend'],
];

/** The only folders and files that may import a room. Of the tuner, the boundary takes the types of its results. */
const IMPORTERS: Record<string, readonly string[]> = {
  tune: ['engine/backend/', 'engine/load/', 'engine/protocol.ts'],
};

/**
 * Rooms that only listen to the engine: they may import the files of src/engine itself, its boundary, but none of its
 * sub-rooms.
 */
const CLIENTS = ['ui', 'metrics', 'embed', 'api', 'remote'];

/** Rooms with GPU code, and the folders of their shaders. */
const TWIN_ROOMS: Record<string, string> = {
  gpu: 'shaders/places',
  kernels: 'shaders',
  attention: 'shaders/attention',
  tune: 'shaders/tune',
};

function filesBelow(folder: string, ending: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => file.split(path.sep).join('/'))
    .sort();
}

function withoutComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

/** The specifiers of all imports: static, type-only, dynamic and re-exporting ones, and workers by URL. */
function importsOf(code: string): string[] {
  const pattern = /(?:\bfrom\s*|\bimport\s*\(?\s*|\bnew\s+URL\(\s*)['"]([^'"]+)['"]/g;
  return [...withoutComments(code).matchAll(pattern)].map((match) => match[1] ?? '');
}

/** A relative import as a path from the root, such as 'src/gpu/device.ts' or 'shaders/lib/reduce.wgsl'. */
function resolveImport(fromFile: string, specifier: string): string {
  const bare = specifier.replace(/\?.*$/, '');
  const target = path.join(path.dirname(fromFile), bare);
  const found = [target, `${target}.ts`].find(
    (candidate) => /\.\w+$/.test(candidate) && existsSync(path.join(ROOT, candidate)),
  );
  return (found ?? target).split(path.sep).join('/');
}

const folderOf = (file: string): string => (file.includes('/') ? file.slice(0, file.lastIndexOf('/')) : '');
const roomOf = (file: string): string => folderOf(file).split('/')[0] ?? '';
const stemOf = (file: string): string => file.slice(file.lastIndexOf('/') + 1).replace(/\.ts$/, '');
const lies = (file: string, folder: string): boolean => file.startsWith(`${folder}/`);

/** The reason why an import is not allowed, or null. `file` is relative to src/, `target` to the root. */
function objection(file: string, target: string): string | null {
  if (target.startsWith('shaders/')) return shaderObjection(file, target);
  if (!target.startsWith('src/')) return `leaves src/ for ${target}`;
  const inSrc = target.slice('src/'.length);
  if (inSrc === 'errors.ts') return null;
  return roomObjection(file, inSrc) ?? doorObjection(file, inSrc) ?? wallObjection(file, inSrc);
}

function roomObjection(file: string, target: string): string | null {
  const room = roomOf(file);
  const targetRoom = roomOf(target);
  if (targetRoom === room) return null;
  if (!ALLOWED[room]?.includes(targetRoom)) return `${room || 'src'} may not import ${targetRoom || target}`;
  if (IMPORTERS[targetRoom]?.every((importer) => !file.startsWith(importer)))
    return `${targetRoom} is imported by ${IMPORTERS[targetRoom].join(' and ')} alone`;
  if (CLIENTS.includes(room) && targetRoom === 'engine' && folderOf(target) !== 'engine')
    return `a client imports ${target}, behind the engine's boundary`;
  return null;
}

function doorObjection(file: string, target: string): string | null {
  const folder = folderOf(target);
  if (
    !target.endsWith('.ts') ||
    !folder.includes('/') ||
    folderOf(file) === folder ||
    DOORS[folder]?.includes(stemOf(target))
  )
    return null;
  return `${target} is private to ${folder}`;
}

function wallObjection(file: string, target: string): string | null {
  const broken = WALLS.flatMap(([a, b]) => [
    [a, b],
    [b, a],
  ]).some(([from = '', to = '']) => lies(file, from) && lies(target, to));
  return broken ? `${folderOf(file)} may not import ${folderOf(target)}` : null;
}

/** The shader of a wrapper: src/kernels/linear/qkv.ts wraps shaders/linear/qkv.wgsl. `file` is relative to src/. */
function twinOf(file: string): string {
  const room = roomOf(file);
  return `${TWIN_ROOMS[room]}${file.slice(room.length).replace(/\.ts$/, '.wgsl')}`;
}

const twins = new Set(
  filesBelow(SRC, '.ts')
    .filter((file) => roomOf(file) in TWIN_ROOMS)
    .map(twinOf),
);

/** A shader with a wrapper may be imported by its wrapper only, any other shader by GPU code. */
function shaderObjection(file: string, target: string): string | null {
  if (!(roomOf(file) in TWIN_ROOMS)) return `${roomOf(file)} holds no GPU code`;
  return twins.has(target) && target !== twinOf(file) ? `imports ${target}, its twin is ${twinOf(file)}` : null;
}

const sources = filesBelow(SRC, '.ts').filter((file) => !file.endsWith('.d.ts'));

/** The files of src/ that a file imports, relative to src/. */
function neighborsOf(file: string): string[] {
  return importsOf(readFileSync(path.join(SRC, file), 'utf8'))
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => resolveImport(`src/${file}`, specifier))
    .filter((target) => target.startsWith('src/') && target.endsWith('.ts'))
    .map((target) => target.slice('src/'.length));
}

/** All imports of src/: file to files. */
const graph = new Map(sources.map((file) => [file, neighborsOf(file)]));

/**
 * The imports between the sub-rooms of a room: folder to folders. Top files of a room connect its sub-rooms and do not
 * count.
 */
function subRoomGraph(room: string): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  for (const [file, targets] of graph) {
    const folder = folderOf(file);
    if (!lies(folder, room)) continue;
    const others = targets.map(folderOf).filter((other) => lies(other, room) && other !== folder);
    folders.set(folder, new Set([...(folders.get(folder) ?? []), ...others]));
  }
  return folders;
}

/** The first circle found by depth-first search, as a path that ends where it begins. Null without a circle. */
function findCircle(graph: ReadonlyMap<string, Iterable<string>>): string[] | null {
  const done = new Set<string>();
  const visit = (file: string, way: readonly string[]): string[] | null => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (done.has(file)) return null;
    done.add(file);
    for (const next of graph.get(file) ?? []) {
      const circle = visit(next, [...way, file]);
      if (circle) return circle;
    }
    return null;
  };
  for (const file of graph.keys()) {
    const circle = visit(file, []);
    if (circle) return circle;
  }
  return null;
}

test('every room of src/ is in the table, and every sub-room has its doors', () => {
  const folders = new Set(sources.map(folderOf).filter((folder) => folder !== ''));
  const subRooms = [...folders].filter((folder) => folder.includes('/'));
  expect(new Set(sources.map(roomOf).filter((room) => room !== ''))).toEqual(new Set(Object.keys(ALLOWED)));
  expect(new Set(subRooms)).toEqual(new Set(Object.keys(DOORS)));
});

test('every door is used', () => {
  const used = new Set(
    sources.flatMap((file) => neighborsOf(file).filter((target) => folderOf(target) !== folderOf(file))),
  );
  const doors = Object.entries(DOORS).flatMap(([folder, stems]) => stems.map((stem) => `${folder}/${stem}.ts`));
  expect(doors.filter((door) => !used.has(door))).toEqual([]);
});

test('rooms import what the tables allow, and shaders only from their twin', () => {
  const wrong = sources.flatMap((file) =>
    importsOf(readFileSync(path.join(SRC, file), 'utf8'))
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => [specifier, objection(file, resolveImport(`src/${file}`, specifier))])
      .filter(([, reason]) => reason !== null)
      .map(([specifier, reason]) => `src/${file}: ${specifier}: ${reason}`),
  );
  expect(wrong).toEqual([]);
});

test('no file imports itself by way of others', () => {
  expect(findCircle(graph)).toBeNull();
});

test('no sub-room imports itself by way of others', () => {
  for (const room of Object.keys(ALLOWED)) expect(findCircle(subRoomGraph(room))).toBeNull();
});

test('entries of the package alone pass on names of other files', () => {
  const passes = (file: string) =>
    /^export\b[^;=(]*\bfrom\s*'/m.test(withoutComments(readFileSync(path.join(SRC, file), 'utf8')));
  expect(sources.filter(passes)).toEqual([
    'api/prompt_api/language_model.ts',
    'embed/elements/elements_entry.ts',
    'embed/frameworks/preact.ts',
    'embed/frameworks/react.ts',
    'embed/frameworks/svelte.ts',
    'embed/frameworks/vue.ts',
    'engine/engine.ts',
    'engine/package.ts',
    'remote/remote_engine.ts',
  ]);
});

test('every shader with an entry point has its wrapper', () => {
  const shaders = filesBelow(path.join(ROOT, 'shaders'), '.wgsl').filter((file) => !file.startsWith('bench/'));
  const entries = shaders.filter((file) => /^@compute\b/m.test(readFileSync(path.join(ROOT, 'shaders', file), 'utf8')));
  expect(entries.map((file) => `shaders/${file}`).filter((file) => !twins.has(file))).toEqual([]);
});

test('the interfaces of other engines take nothing but types from the engine', () => {
  const values = /^import\s+(?!type\b)[^;]*?from\s*'(?:\.\.\/)+(?:engine\/|errors)/m;
  const takes = (file: string) => values.test(withoutComments(readFileSync(path.join(SRC, file), 'utf8')));
  expect(sources.filter((file) => roomOf(file) === 'api' && takes(file))).toEqual([]);
});

test('no kernel is written outside shaders/', () => {
  const wgsl = /@compute\b/;
  const strays = sources.filter((file) => wgsl.test(withoutComments(readFileSync(path.join(SRC, file), 'utf8'))));
  expect(strays).toEqual([]);
});

test('file stems are snake_case', () => {
  const named = [
    ...filesBelow(SRC, '.ts'),
    ...filesBelow(path.join(ROOT, 'shaders'), '.wgsl'),
    ...filesBelow(path.join(ROOT, 'test'), '.ts'),
    ...filesBelow(path.join(ROOT, 'bench'), '.ts'),
    ...filesBelow(path.join(ROOT, 'tools'), '.ts'),
    ...filesBelow(path.join(ROOT, 'tools'), '.mjs'),
  ];
  const stem = (file: string) => path.basename(file).replace(/(\.test|\.d)?\.\w+$/, '');
  expect(named.filter((file) => !/^[a-z][a-z0-9_]*$/.test(stem(file)))).toEqual([]);
});
