// The package on the shelf: what its tarball holds, how its entries and types are found, and that a server may import
// them.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../../tools/lib/ensure.mjs';
import { createProject, type Project, pack } from './pack';

const { exports } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
/** What code imports. The others are files for a server of one's own, or for tools. */
const ENTRIES = Object.keys(exports).filter((name) => !/\.js(on)?$/.test(name));
/** Every classic script of the tag, and the worker. */
const SCRIPTS = Object.keys(exports).filter((name) => name.endsWith('.js'));

const MOST_BYTES = 1_380_000;
const STORYTELLER = 'public/models/storyteller';

let project: Project;
let tarball: Buffer;

beforeAll(async () => {
  project = await createProject(['@types', 'react', 'preact', 'svelte', 'vue']);
  tarball = readFileSync(project.tarball.file);
});

afterAll(() => project?.remove());

test('the tarball has the built files alone, without a model, below 1.38 MB', () => {
  const { bytes, files } = project.tarball;
  expect(bytes).toBeLessThan(MOST_BYTES);
  expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'dist/embed.js', 'dist/lib/vivace.d.ts']));
  const known =
    /^(?:LICENSE|README\.md|package\.json|dist\/THIRD_PARTY_LICENSES\.txt|dist\/(?!bench|tools|service_worker|assets)[\w/-]+\.(?:js|d\.ts))$/;
  expect(files.filter((file) => !known.test(file))).toEqual([]);
});

/** Packages that a source imports, without those that it imports only as types. */
function packagesOf(source: string): string[] {
  const imports = source.matchAll(
    /^(?:import|export) (?!type )(?:[\w*{}\s,]+ from )?'([^.'][^']*)';|\bimport\('([^.'][^']*)'\)/gm,
  );
  return [...imports].map(([, from = '', later = from]) => later.split('/', later.startsWith('@') ? 2 : 1).join('/'));
}

test('the licenses of all bundled packages are in the tarball', () => {
  const sources = readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  const texts = sources
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(path.join(ROOT, 'src', file), 'utf8'));
  const imported = new Set(texts.flatMap(packagesOf));
  expect(imported.size).toBeGreaterThan(10);
  const written = readFileSync(path.join(project.folder, 'node_modules/vivace/dist/THIRD_PARTY_LICENSES.txt'), 'utf8');
  const listed = new Map(
    [...written.matchAll(/^={80}\n(\S+) \S+ \((\S+)\)\n\n/gm)].map(([, name, kind]) => [name, kind]),
  );
  // lit itself is nothing but exports of these.
  const parts = ['lit-html', 'lit-element', '@lit/reactive-element'];
  expect([...imported, ...parts].filter((name) => name !== 'lit' && !listed.has(name))).toEqual([]);
  expect([...listed.values()].filter((kind) => !/^(?:MIT|Apache-2\.0|BSD-3-Clause)$/.test(kind ?? ''))).toEqual([]);
  expect(written.split('='.repeat(80)).filter((text) => !/copyright|apache license/i.test(text))).toHaveLength(1);
});

test('the storyteller is a package of its own', async () => {
  const { files } = await pack(STORYTELLER);
  expect(files).toEqual(expect.arrayContaining(['README.md', 'ATTRIBUTION.txt', 'index.js', 'storyteller-q8_0.gguf']));
  const { modelUrl } = await import(path.join(ROOT, STORYTELLER, 'index.js'));
  expect(existsSync(new URL(modelUrl))).toBe(true);
});

test('every file that an entry names is in the tarball', () => {
  const named = JSON.stringify(exports).match(/\.\/dist\/[^"]+/g) ?? [];
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((file) => !project.tarball.files.includes(file.slice(2)))).toEqual([]);
});

test('every file that a module of the package imports is in the tarball', () => {
  const { files } = project.tarball;
  const modules = files.filter((file) => /^dist\/lib\/.*(?<!\.d)\.[jt]s$/.test(file));
  const imported = modules.flatMap((file) => {
    const code = readFileSync(path.join(project.folder, 'node_modules/vivace', file), 'utf8');
    const names = [...code.matchAll(/\b(?:from|import) *\(?["'`](\.\.?\/[^"'`]+\.js)["'`]/g)];
    return names.map(([, name = '']) => path.posix.join(path.posix.dirname(file), name));
  });
  expect(imported).toContain('dist/embed_math.js');
  expect(imported.filter((file) => !files.includes(file))).toEqual([]);
});

test('publint finds nothing', async () => {
  const pack = { tarball: Uint8Array.from(tarball).buffer };
  expect((await publint({ pack, strict: true })).messages).toEqual([]);
});

test('every entry has types that each kind of resolution of an ES module finds', async () => {
  const found = await checkPackage(createPackageFromTarballData(tarball), { excludeEntrypoints: SCRIPTS });
  expect(Object.keys(found.types === false ? {} : found.entrypoints).sort()).toEqual(
    [...ENTRIES, './package.json'].sort(),
  );
  if (found.types === false) return;
  // The package is ESM: node10 knows no exports, and a CommonJS file imports it by import().
  const { problems, entrypoints } = found;
  const isOurs = ({ resolutionKind }: { resolutionKind?: string }) =>
    /^(node16-esm|bundler)$/.test(resolutionKind ?? '');
  expect(problems.length).toBeGreaterThan(0); // of those kinds
  expect(problems.filter((problem) => !('resolutionKind' in problem) || isOurs(problem))).toEqual([]);
  for (const name of ENTRIES) {
    const { resolutions } = entrypoints[name] ?? {};
    for (const kind of ['node16-esm', 'bundler'] as const) {
      expect(resolutions?.[kind].resolution?.fileName, `${name} in ${kind}`).toMatch(/\.d\.ts$/);
    }
  }
});

test('each entry declares itself in one file, without names of the GPU', () => {
  for (const name of ENTRIES) {
    const text = readFileSync(path.join(project.folder, 'node_modules/vivace', exports[name].types), 'utf8');
    expect(text.match(/\bGPU[A-Z]\w*|\/\/ .*\.d\.ts/g), name).toBeNull();
    const imports = [...text.matchAll(/(?:from |import\()"([^"]+)"/g)].map(([, from]) => from);
    const known = /^(?:\.\/(?:vivace|elements|openai)\.js|lit|react|preact|vue|svelte\/elements)$/;
    expect(
      imports.filter((from = '') => !known.test(from)),
      name,
    ).toEqual([]);
  }
});

/** The names that a declaration file exports, without those of types, and all of them. */
function exportsOf(text: string) {
  const names =
    /^export \{(.*)\};/m
      .exec(text)?.[1]
      ?.split(',')
      .map((name) => name.trim().replace('type ', '')) ?? [];
  const isValue = (name: string) => new RegExp(`^declare (?:class|const|function) ${name}\\b`, 'm').test(text);
  return { all: new Set(names), values: names.filter(isValue) };
}

test('the entry of the engine declares what users need, and what stays inside is not exported', () => {
  const folder = path.join(project.folder, 'node_modules/vivace/dist/lib');
  const text = readFileSync(path.join(folder, 'vivace.d.ts'), 'utf8');
  const { all, values } = exportsOf(text);
  expect(values.sort()).toEqual([
    'Engine',
    'VivaceError',
    'cacheUsage',
    'deleteCachedModel',
    'deleteStoredPrompts',
    'listCachedModels',
  ]);
  const declared = [...text.matchAll(/^(?:declare class|interface|type) (\w+)/gm)].map(([, name = '']) => name);
  const docs = readFileSync(path.join(ROOT, 'docs/api.md'), 'utf8');
  const inCode = docs.match(/```.*?```|`[^`]+`/gs)?.join(' ') ?? '';
  const documented = declared.filter((name) => new RegExp(`\\b${name}\\b`).test(inCode));
  expect(documented.length).toBeGreaterThan(30);
  expect(documented.filter((name) => !all.has(name))).toEqual([]);
  expect(text).not.toMatch(/WorkerApi|PortMessages|LostMessage/);
});

const CONSUMER = `
import { Engine, type EngineEvent, VivaceError } from 'vivace';
import type { VivaceChat } from 'vivace/elements';
import type { VivaceHandle } from 'vivace/embed.js';
import { createFetch } from 'vivace/openai';
import { createLanguageModel, type LanguageModelSession } from 'vivace/prompt-api';
import { RemoteEngine, RemoteError } from 'vivace/remote';
import { CreateMLCEngine } from 'vivace/webllm';

export async function tell(chat: VivaceChat): Promise<string> {
  const engine = await Engine.load('m.gguf', { backend: 'cpu', onProgress: ({ loadedBytes }) => loadedBytes.toFixed() });
  let text = '';
  for await (const event of engine.chat([{ role: 'user', content: 'Hi' }])) {
    const heard: EngineEvent = event;
    if (heard.type === 'token') text += heard.text;
  }
  chat.engine = engine;
  window.Vivace?.on('message', ({ role }) => role === 'user');
  const handle: VivaceHandle | undefined = window.Vivace;
  await handle?.load();
  const local: typeof fetch = createFetch(engine, { models: { other: engine } });
  await local('http://vivace/v1/models');
  const session: LanguageModelSession = await createLanguageModel(engine).create({ samplingMode: 'most-predictable' });
  text += await session.prompt('Hi');
  const other = await CreateMLCEngine('m.gguf', { load: Engine.load });
  text += await other.getMessage();
  const far = await RemoteEngine.load('http://localhost:8080', { apiKey: 'key' });
  const there: typeof fetch = createFetch(far);
  for await (const event of far.chat([{ role: 'user', content: 'Hi' }], { maxTokens: 5 })) text += event.type;
  text += far.metrics?.network?.beyondServer?.ttftMs.toFixed() ?? new RemoteError('server-cut', String(there)).status;
  // @ts-expect-error: an option that there is not
  await Engine.load('m.gguf', { nonsense: 1 });
  return text + new VivaceError('internal', text).code;
}
`;

const VANILLA = `
import type { VivaceChat } from 'vivace/elements';

const chat: VivaceChat = document.createElement('vivace-chat');
document.querySelector('vivace-metrics')?.addEventListener('vivace-roofline', ({ detail }) => detail?.readGBps);
chat.addEventListener('vivace-event', ({ detail }) => detail.type === 'token' && detail.text.length);
chat.addEventListener('vivace-changed', ({ detail }) => detail.id.length);
chat.addEventListener('click', ({ clientX }) => clientX.toFixed());
chat.addEventListener('of-another', (event) => event.type);
// @ts-expect-error: the event has no such detail
chat.addEventListener('vivace-open-run', ({ detail }) => detail.nonsense);
`;

const JSX_CONSUMER = `
export const chat = (
  <vivace-chat id="a" model="m.gguf" autoload share context={4096} kv="f16" examples="a | b" theme="dark" settings="off"
    ref={(element) => element?.stop()} onvivace-event={({ detail }) => detail.type === 'done'} />
);
export const panel = <vivace-metrics for="a" onvivace-roofline={({ detail }) => detail === null} />;
// @ts-expect-error: none of the themes
export const wrong = <vivace-chat theme="blue" />;
// @ts-expect-error: none of the events' details
export const deaf = <vivace-chat onvivace-open-run={({ detail }) => detail.nonsense} />;
`;

const TEMPLATES = `
import type { SvelteHTMLElements } from 'svelte/elements';
import type { GlobalComponents } from 'vue';
import type {} from 'vivace/svelte';
import type {} from 'vivace/vue';

type VueChat = InstanceType<GlobalComponents['vivace-chat']>['$props'];
export const vue: VueChat = { id: 'a', context: '4096', onVivaceEvent: ({ detail }) => void detail.type, ref: 'chat' };
export const svelte: SvelteHTMLElements['vivace-chat'] = {
  id: 'a', context: 4096, autoload: '', share: true, 'onvivace-event': ({ detail }) => void detail.type,
};
export const panel: SvelteHTMLElements['vivace-metrics'] = { for: 'a' };
// @ts-expect-error: none of the values
export const wrongVue: VueChat = { settings: 'some' };
// @ts-expect-error: none of the values
export const wrongSvelte: SvelteHTMLElements['vivace-chat'] = { thinking: 'perhaps' };
`;

const SOURCES = {
  'consumer.ts': CONSUMER,
  'vanilla.ts': VANILLA,
  'react.tsx': `import 'vivace/react';${JSX_CONSUMER}`,
  'preact.tsx': `/** @jsxImportSource preact */\nimport 'vivace/preact';${JSX_CONSUMER}`,
  'templates.ts': TEMPLATES,
};

test.each([
  ['ESNext --moduleResolution bundler', Object.keys(SOURCES)],
  ['nodenext', Object.keys(SOURCES)],
  ['node16', ['consumer.ts']],
])(
  'code of a client is checked against the types, and these themselves, with the module setting %s',
  async (module, files) => {
    for (const name of files) writeFileSync(path.join(project.folder, name), SOURCES[name as keyof typeof SOURCES]);
    const settings = `--ignoreConfig --noEmit --strict --skipLibCheck false --target ES2022 --module ${module} --jsx react-jsx`;
    const compiler = path.join(ROOT, 'node_modules/typescript/bin/tsc');
    expect(await project.node(compiler, ...settings.split(' '), '--types', '', ...files)).toBe('');
  },
);

test('a server that renders pages may import every entry', async () => {
  const names = ENTRIES.map((name) => path.posix.join('vivace', name));
  const code = `const found = await Promise.all(${JSON.stringify(names)}.map((name) => import(name)));
    console.log(found.filter((entry) => Object.keys(entry).length > 0).length);`;
  expect(await project.node('--input-type=module', '-e', code)).toBe(`${names.length}\n`);
  const elements = `import { VivaceChat, VivaceMetrics } from 'vivace/react'; console.log(VivaceChat.name, VivaceMetrics.name)`;
  expect((await project.node('--input-type=module', '-e', elements)).trim().split(' ')).toHaveLength(2);
});
