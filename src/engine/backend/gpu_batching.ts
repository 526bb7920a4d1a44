// A batch on the GPU: queues its steps and reads their ids back while later steps run.

import { GpuProgramError } from '../../errors';
import type { Gpu } from '../../gpu/device';
import { type ListAtStep, recordPass } from '../../gpu/kernel';
import { Batch } from '../../model/batch/batch';
import { checkBatch } from '../../model/batch/batch_check';
import { timeBatch } from '../../model/batch/batch_time';
import type { Llama } from '../../model/llama';
import type { FusedLaunch } from '../../model/step/decode_step';
import type { BatchAsked, Batching } from './backend';
import type { Stamps } from './batch_clock';
import { BatchReadbacks } from './batch_readbacks';

/** What batches of a model have found: which steps are right here, and what they cost, after so many timings. */
interface Findings {
  fused: FusedLaunch | null;
  cost: Batching['cost'];
  timings: number;
}

/** Timings that must find two requests faster in turns: a GPU that idled while shaders were compiled may be slow. */
const SURE_TIMINGS = 3;

const isSure = ({ cost, timings }: Findings) => cost(2) < 2 || timings >= SURE_TIMINGS;

const findings = new WeakMap<Llama, Findings>();

/** True where a model steps for several requests: not with attention on the CPU. */
function canBatch(llama: Llama): boolean {
  return llama.batchSources.config.causal && !llama.needsHost;
}

/** Compiles the steps of a batch while requests take turns, where that takes long. See Backend.prepareBatch. */
export async function prepareBatching(llama: Llama, slots: number, room: number): Promise<boolean> {
  if (!canBatch(llama)) return false;
  const { fusedLaunch: fused, batchSources: sources } = llama;
  if (fused && !findings.get(llama)) {
    await Batch.prepare(sources, Batch.slotsFor(sources, slots, room), room, fused);
  }
  return true;
}

/**
 * A batch. Its steps are fused where those of the model are, and right. The first batch of a model is checked on the
 * conversation, and timed, as are the next ones until the cost is sure. Null where this GPU binds no two slots with the
 * fewest positions.
 * @throws GpuMemoryError, GpuProgramError, AttentionUnavailable
 */
export async function createBatching(
  llama: Llama,
  { slots: most, room, least, ids, plain }: BatchAsked,
): Promise<Batching | null> {
  const { batchSources: sources } = llama;
  const { gpu } = sources;
  if (!canBatch(llama)) throw new GpuProgramError('model/batch', 'attention has moved to the CPU');
  const slots = Batch.slotsFor(sources, most, least);
  if (slots < 2) return null;
  const branches = await llama.kvParking.prepare();
  const found = findings.get(llama);
  const create = async (fused: FusedLaunch | null) => {
    const batch = await Batch.create(sources, slots, room, fused);
    try {
      const isKnown = found?.fused === fused;
      if (!isKnown) await checkBatch(gpu, llama, batch, ids);
      if (!isKnown || !isSure(found)) {
        const cost = await timeBatch(gpu, llama, batch, ids.length - 1);
        findings.set(llama, { fused, cost, timings: isKnown ? found.timings + 1 : 1 });
      }
      return batch;
    } catch (error) {
      batch.destroy();
      throw error;
    }
  };
  const fused = plain ? null : found ? found.fused : llama.fusedLaunch;
  const batch = (fused && (await create(fused).catch(() => null))) ?? (await create(null));
  const readbacks = new BatchReadbacks(gpu, batch);
  try {
    await readbacks.open();
  } catch (error) {
    batch.destroy();
    throw error;
  }
  const known = findings.get(llama) as Findings;
  return {
    slots,
    room: batch.room,
    cost: known.cost,
    isCostSure: isSure(known),
    async reportLogprobs() {
      await batch.reportLogprobs();
      await readbacks.openReports();
    },
    openClock: () => readbacks.openClock(),
    async constrain(slot, { automaton }) {
      const { tables } = llama.batchSources;
      if (tables) await batch.constrain(slot, automaton, tables); // `begin` has made them
    },
    fill(slot, ids, sampling, place) {
      readbacks.most[slot] = sampling.logprobs;
      return batch.fill(slot, ids, sampling, branches, place);
    },
    setMembers: (members) => batch.setRows(members),
    async steps(count, timed) {
      if (gpu.failure) throw gpu.failure;
      const steps = Array.from({ length: count }, () => batch.next());
      const stamps = timed ? readbacks.stamps() : null;
      const encoder = recordSteps(gpu, steps, stamps);
      const read = readbacks.copy(encoder, steps, stamps);
      gpu.submit(encoder.finish());
      return read();
    },
    destroy() {
      batch.destroy();
      readbacks.destroy();
    },
  };
}

/** Records steps into one pass, or submits all but the last, where each needs a submit of its own. */
function recordSteps(gpu: Gpu, steps: readonly { pass: ListAtStep }[], stamps: Stamps | null): GPUCommandEncoder {
  const passes = steps.map(({ pass }) => pass);
  const each = gpu.can.immediates ? [passes] : passes.map((pass) => [pass]);
  let encoder = gpu.device.createCommandEncoder();
  for (const [i, together] of each.entries()) {
    if (i > 0) {
      gpu.submit(encoder.finish());
      encoder = gpu.device.createCommandEncoder();
    }
    const writes = { ...(i === 0 && stamps?.begin), ...(i === each.length - 1 && stamps?.end) };
    recordPass(gpu, encoder, together, stamps ? (writes as GPUComputePassTimestampWrites) : undefined);
  }
  return encoder;
}
