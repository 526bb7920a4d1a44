// The project's own small models, as dropped files.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { droppedFolder } from '../model/fixtures/files';
import { input } from './worker_input';

const { root } = input;

function readText(file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}

export function readJsonFile(file: string): Record<string, unknown> {
  return JSON.parse(readText(file)) as Record<string, unknown>;
}

export interface Fixture {
  /** Name of its folder. */
  name: string;
  /** The files of the model itself. */
  files: File[];
  /** config.json in each available spelling. */
  configs: Record<string, unknown>[];
}

/** Folders of test/fixtures with a config.json, ordered by name. */
export const FIXTURES: readonly Fixture[] = ['llama', 'architectures'].flatMap((room) =>
  readdirSync(path.join(root, 'test/fixtures', room))
    .sort()
    .map((name) => ({ name, folder: `test/fixtures/${room}/${name}` }))
    .map(({ name, folder }) => ({
      name,
      files: droppedFolder(path.join(root, folder)).filter(({ name }) => /^(config\.json|model.*)$/.test(name)),
      configs: ['config.json', 'config.classic.json']
        .map((name) => `${folder}/${name}`)
        .filter((file) => existsSync(path.join(root, file)))
        .map(readJsonFile),
    })),
);
