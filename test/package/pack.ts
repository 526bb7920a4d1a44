// The package as strangers get it: packed by npm, and unpacked in a folder beside what they have installed.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { ensureBuilt } from '../../tools/lib/bundle/dist';
import { ROOT } from '../../tools/lib/ensure.mjs';

const exec = promisify(execFile);

export interface Tarball {
  file: string;
  bytes: number;
  /** Paths of what it holds. */
  files: string[];
}

export interface Project {
  folder: string;
  tarball: Tarball;
  /** Runs a JavaScript program. @returns what it said, on both streams if it failed */
  node(...args: string[]): Promise<string>;
  remove(): void;
}

/**
 * What npm packs of a package of ours.
 * @param folder of its package.json, from the root
 * @param into where the tarball goes. Default: nowhere
 */
export async function pack(folder: string, into?: string): Promise<Tarball> {
  const isWindows = process.platform === 'win32';
  const kept = into === undefined ? ['--dry-run'] : ['--pack-destination', into];
  const args = ['pack', `./${folder}`, '--json', '--ignore-scripts', ...kept];
  const { stdout } = await exec(isWindows ? 'npm.cmd' : 'npm', args, { cwd: ROOT, shell: isWindows });
  const [{ filename, size, files }] = JSON.parse(stdout);
  const paths = files.map((found: { path: string }) => found.path);
  return { file: path.join(into ?? '', filename), bytes: size, files: paths };
}

/** An empty project with the package, and with packages of ours by their names. `lit` is what npm installs beside it. */
export async function createProject(installed: readonly string[] = []): Promise<Project> {
  await ensureBuilt();
  const folder = mkdtempSync(path.join(tmpdir(), 'vivace-project-'));
  const modules = path.join(folder, 'node_modules');
  const tarball = await pack('', folder);
  mkdirSync(path.join(modules, 'vivace'), { recursive: true });
  await exec('tar', ['-xzf', tarball.file, '--strip-components=1', '-C', path.join(modules, 'vivace')]);
  for (const name of ['lit', ...installed]) {
    mkdirSync(path.dirname(path.join(modules, name)), { recursive: true });
    symlinkSync(path.join(ROOT, 'node_modules', name), path.join(modules, name), 'junction');
  }
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  return {
    folder,
    tarball,
    node: (...args) =>
      exec(process.execPath, args, { cwd: folder }).then(
        ({ stdout }) => stdout,
        ({ stdout, stderr }) => `${stdout}${stderr}`,
      ),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
