// The page's service worker: the list of the page's files with their hashes, the name of the build, and the worker as
// one script, dist/service_worker.js.

import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build, type Plugin, type Rolldown } from 'vite';
import { ROOT } from '../ensure.mjs';
import { DIST, filesBelow } from './dist';
import { OUTPUT } from './worker_plugin';

/** Of public/: what the page needs to open. Models are the engine's, and the demo is another page. */
const OF_PUBLIC = /^(?:favicon\.svg|vivace\.webmanifest|icons\/.+|fonts\/.+\.woff2)$/;
/** Of public/: what whoever hosts the page may replace. */
const REPLACEABLE = ['catalogue.json'];

const hashOf = (content: Buffer | string) => createHash('sha256').update(content);
/** The line of index.html that names the build. */
const lineOf = (name: string) => `<meta name="vivace-build" content="${name}" />`;
const LINE = /<meta name="vivace-build" content="\w*" \/>/;

async function publicFiles(): Promise<string[]> {
  const root = path.join(ROOT, 'public');
  return (await filesBelow(root)).map((file) => path.relative(root, file).split(path.sep).join('/'));
}

/**
 * Names the build in dist/index.html and writes its service worker.
 * @param emitted the files of the page's build, below dist/
 */
export async function writeShellWorker(emitted: readonly string[]): Promise<void> {
  const ofPublic = await publicFiles();
  const names = [
    ...emitted.filter((file) => file !== 'index.html'),
    ...ofPublic.filter((file) => OF_PUBLIC.test(file)),
  ];
  const page = path.join(DIST, 'index.html');
  const html = (await readFile(page, 'utf8')).replace(LINE, lineOf(''));
  if (!LINE.test(html)) throw new Error(`index.html must have the line ${lineOf('')}`);

  const files: Record<string, string> = {};
  for (const name of names.sort()) files[name] = integrityOf(await readFile(path.join(DIST, name)));
  const build = hashOf(JSON.stringify([html, files]))
    .digest('hex')
    .slice(0, 16);
  const named = html.replace(LINE, lineOf(build));
  files[''] = integrityOf(named);
  const replaceable = REPLACEABLE.filter((name) => ofPublic.includes(name));
  await writeFile(path.join(DIST, 'service_worker.js'), await bundle({ build, files, replaceable }));
  await writeFile(page, named);
}

const integrityOf = (content: Buffer | string) => `sha256-${hashOf(content).digest('base64')}`;

interface Kept {
  build: string;
  files: Record<string, string>;
  replaceable: string[];
}

async function bundle({ build: name, files, replaceable }: Kept): Promise<string> {
  const insert: Plugin = {
    name: 'kept-files',
    enforce: 'pre',
    load: (id) =>
      id.endsWith('/src/shell/kept_files.ts')
        ? `export const BUILD = ${JSON.stringify(name)}; export const FILES = ${JSON.stringify(files)};
           export const REPLACEABLE = ${JSON.stringify(replaceable)};`
        : null,
  };
  const output = await build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    plugins: [insert],
    build: {
      write: false,
      target: 'es2022',
      reportCompressedSize: false,
      rolldownOptions: {
        checks: { bundlerTimings: false },
        input: path.join(ROOT, 'src/shell/service_worker.ts'),
        output: { format: 'iife', codeSplitting: false, ...OUTPUT },
      },
    },
  });
  const [result] = [output].flat() as Rolldown.RolldownOutput[];
  const [chunk, ...others] = result?.output ?? [];
  if (chunk?.type !== 'chunk' || others.length > 0)
    throw new Error(`The service worker became ${others.length + 1} files.`);
  return chunk.code;
}
