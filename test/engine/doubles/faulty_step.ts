// A tiny model whose fused step can be damaged: the faults are numbers among its words, so that all of them share one
// shader.

import { CpuLlama } from '../../../src/cpu/llama';
import { loadCpuWeights } from '../../../src/engine/backend/cpu_backend';
import { readConfig } from '../../../src/model/config/read';
import { Llama } from '../../../src/model/llama';
import type { StepChoice } from '../../../src/model/step/step_choice';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { allocateWeights } from '../../../src/model/weights/weights';
import { openModel } from '../../../src/storage/model_file';
import { fixtureFolder } from '../../cpu/fixtures';
import { testGpu } from '../../gpu/test_device';
import { droppedFolder } from '../../model/fixtures/files';

/** One KV head, so that one workgroup can run it. Its 4 query heads of 128 values take 128 threads. */
const MODEL = 'bf16_group4_hd128_llama3';
const THREADS = 128;
export const CONTEXT = 64;
/** Polls of a wait, more than all late words of a workgroup take. */
export const SPINS = 1 << 18;

/** lost: some words are never published. damaged: other payloads, with the right epochs. */
const FAULTS = ['none', 'lost', 'wrong epoch', 'late', 'damaged'] as const;

export interface Fault {
  kind: (typeof FAULTS)[number];
  /** The workgroup that has it. */
  workgroup: number;
  /** Positions of the steps that have it. */
  from: number;
  to: number;
}

/** Words behind the status, the epoch and the limit of a wait. */
const FAULT_AT = 8;
/** Polls before a late word. */
const LATE = 300;
const PUBLISH = `
fn publish(i: u32, payload: u32, tag: u32) {
  let has_fault = wg == atomicLoad(&words[${FAULT_AT + 1}u]) && step.position >= atomicLoad(&words[${FAULT_AT + 2}u])
    && step.position < atomicLoad(&words[${FAULT_AT + 3}u]);
  let fault = select(0u, atomicLoad(&words[${FAULT_AT}u]), has_fault);
  if (fault == 1u && i % 5u == 0u) { return; }
  var epoch = tag;
  if (fault == 2u) { epoch++; }
  if (fault == 3u) { for (var n = 0u; n < ${LATE}u; n++) { if (poll(i) == 0xffffffffu) { break; } } }
  let bits = select(payload, payload ^ 0x101010u, fault == 4u);
  atomicStore(&words[i], (bits & 0xffffffu) | (epoch << 24u));
}`;

export interface FaultyOptions {
  step?: StepChoice['name'];
  groups?: number;
  apart?: boolean;
  fault?: Fault;
  /** Polls of a wait. */
  spins?: number;
}

const openFiles = () => openModel(droppedFolder(fixtureFolder(MODEL)));

/** The pass of the same weights in f32. */
export async function faultyCpu(): Promise<CpuLlama> {
  const files = await openFiles();
  const config = readConfig(files);
  return new CpuLlama(config, await loadCpuWeights(resolveTensors(files, config), undefined, 'q8'), CONTEXT);
}

/** The model with its weights quantized to q8. */
export async function faultyLlama({ step = 'fused', groups = 2, apart, fault, spins = SPINS }: FaultyOptions) {
  const gpu = await testGpu();
  const files = await openFiles();
  const config = readConfig(files);
  const { weights, read } = await allocateWeights(gpu, resolveTensors(files, config), config, 'q8');
  const llama = await Llama.create(gpu, config, weights, {
    contextLength: CONTEXT,
    kvType: 'f32',
    attention: 'auto',
    activations: 'q8',
    step,
    stepLaunch: { groups, threads: THREADS },
    stepTest: { publish: PUBLISH, apart },
  });
  await read(files);
  llama.start(weights);
  const { fused } = llama.stepped;
  if (fused && fault) {
    const reset = fused.reset.bind(fused);
    fused.reset = (most) => {
      reset(most);
      const { kind, workgroup, from, to } = fault;
      gpu.write(fused.words, Uint32Array.of(FAULTS.indexOf(kind), workgroup, from, to), 4 * FAULT_AT);
    };
  }
  if (step === 'fused')
    llama.decideStep({
      name: 'fused',
      reason: 'a test',
      gain: null,
      spins,
      lanesFrom: Number.POSITIVE_INFINITY,
      until: Number.POSITIVE_INFINITY,
    });
  return { gpu, llama, config, weights };
}
