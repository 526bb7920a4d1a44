// Reads test/fixtures/llama and test/fixtures/architectures: tiny models with logits and greedy ids of transformers.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CpuWeights } from '../../src/cpu/llama';
import { loadCpuWeights } from '../../src/engine/backend/cpu_backend';
import type { ModelConfig } from '../../src/model/config/config';
import { readConfig } from '../../src/model/config/read';
import { resolveTensors } from '../../src/model/weights/tensors';
import { openModel } from '../../src/storage/model_file';
import type { ModelFiles } from '../../src/storage/model_files';
import { droppedFolder } from '../model/fixtures/files';

const FIXTURES = join(import.meta.dirname, '../fixtures');

/** The context of the fixtures, on which dynamic and longrope scaling depend (README.md of tools/make_fixtures). */
export const ARCHITECTURE_CONTEXT = 48;

/** The results of transformers in f32. */
export interface Expected {
  /** logits[t] are those after inputIds[0 .. t]. */
  inputIds: number[];
  logits: Float32Array[];
  greedy: { promptIds: number[]; ids: number[]; margins: number[] };
}

export const fixtureNames: string[] = readdirSync(join(FIXTURES, 'llama')).sort();
export const architectureNames: string[] = readdirSync(join(FIXTURES, 'architectures')).sort();

export function fixtureFolder(name: string): string {
  return join(FIXTURES, architectureNames.includes(name) ? 'architectures' : 'llama', name);
}

export function readFixture(name: string): Expected {
  const folder = fixtureFolder(name);
  const expected = readSafetensors(join(folder, 'expected.safetensors'));
  const inputIds = [...new Int32Array(expected('input_ids'))];
  const logits = new Float32Array(expected('logits'));
  const vocabSize = logits.length / inputIds.length;
  return {
    inputIds,
    logits: inputIds.map((_, t) => logits.subarray(t * vocabSize, (t + 1) * vocabSize)),
    greedy: JSON.parse(readFileSync(join(folder, 'greedy.json'), 'utf8')),
  };
}

/** The model of a fixture, read by the engine's code. */
export async function loadFixture(name: string): Promise<{ config: ModelConfig; weights: CpuWeights }> {
  return loadFiles(await openModel(droppedFolder(fixtureFolder(name))));
}

export async function loadFiles(files: ModelFiles): Promise<{ config: ModelConfig; weights: CpuWeights }> {
  const config = readConfig(files);
  return { config, weights: await loadCpuWeights(resolveTensors(files, config)) };
}

/** Reads a safetensors file (u64 header length, JSON header with byte ranges, data). The result maps names to bytes. */
function readSafetensors(path: string): (name: string) => ArrayBuffer {
  const file = new Uint8Array(readFileSync(path));
  const headerEnd = 8 + Number(new DataView(file.buffer).getBigUint64(0, true));
  const header: Record<string, { data_offsets: [number, number] }> = JSON.parse(
    new TextDecoder().decode(file.subarray(8, headerEnd)),
  );
  return (name) => {
    const [begin, end] = header[name].data_offsets;
    return file.slice(headerEnd + begin, headerEnd + end).buffer;
  };
}
