// The licenses of other packages whose code is in our bundles. The plugin notes the packages of each build, and
// `licenses` writes their texts, which go with every copy of the bundles.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'vite';
import { ROOT } from '../ensure.mjs';

/** The licenses' file, below dist/. */
export const LICENSES = 'THIRD_PARTY_LICENSES.txt';

/** Folders of packages in the bundles of this process. */
const bundled = new Set<string>();

/** Packages that write small pieces of their own into a bundle, by the start of a module's name. */
const HELPERS: Record<string, string> = { '\0vite/': 'vite', '\0rolldown/': 'rolldown' };

interface Manifest {
  name: string;
  version: string;
  license: string;
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;

/** The folder of the package that a module belongs to, or null for our own modules. */
function packageOf(module: string): string | null {
  const helper = Object.keys(HELPERS).find((start) => module.startsWith(start));
  if (helper) return path.join(ROOT, 'node_modules', HELPERS[helper] ?? '');
  const [, folder] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module.split(path.sep).join('/')) ?? [];
  return folder ?? null;
}

/** Notes each package that has a part in a bundle. */
export function licensePlugin(): Plugin {
  return {
    name: 'licenses',
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue;
        for (const [module, { renderedLength }] of Object.entries(chunk.modules)) {
          const folder = renderedLength > 0 ? packageOf(module) : null;
          if (folder) bundled.add(folder);
        }
      }
    },
  };
}

/** In the license of a tool: its own dependencies, which stay out of what it builds. */
const OF_DEPENDENCIES = /^#+ Licenses of bundled dependencies[\s\S]*/m;

/** The license of a package, and its notice if it has one. @throws if the package brings no text */
function textOf(folder: string): string {
  const files = readdirSync(folder).filter((name) => /^(?:licen[cs]e|copying|notice)(?:\.(?:md|txt))?$/i.test(name));
  if (!files.some((name) => !/^notice/i.test(name))) throw new Error(`${folder} has no license file.`);
  return files
    .sort()
    .map((name) => readFileSync(path.join(folder, name), 'utf8').replace(OF_DEPENDENCIES, '').trim())
    .join('\n\n');
}

/** The licenses of all packages that this process has bundled, by name. */
export function licenses(folders: ReadonlySet<string> = bundled): string {
  const found = [...folders]
    .filter((folder) => existsSync(folder))
    .map((folder) => ({ folder, ...manifestOf(folder) }));
  const texts = found
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(
      ({ folder, name, version, license }) =>
        `${'='.repeat(80)}\n${name} ${version} (${license})\n\n${textOf(folder)}\n`,
    );
  return `Vivace's bundles contain code of these packages.\n\n${texts.join('\n')}`;
}
