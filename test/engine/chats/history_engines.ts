// What histories of chats run on: the CPU, where requests take turns, or a GPU, where they step in a batch.

import type { KvType } from '../../../src/attention/kv_layout';
import type { Backend } from '../../../src/engine/backend/backend';
import { CpuBackend, loadCpuWeights } from '../../../src/engine/backend/cpu_backend';
import { Batches } from '../../../src/engine/worker/batch/batches';
import type { Session } from '../../../src/engine/worker/request/session';
import type { Turns } from '../../../src/engine/worker/turns/turns';
import type { Gpu } from '../../../src/gpu/device';
import { readConfig } from '../../../src/model/config/read';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { openModel } from '../../../src/storage/model_file';
import { droppedFolder } from '../../model/fixtures/files';
import { byteSession, TINY, tinyBackend } from '../doubles/loop_session';

/** Sizes in tokens. */
interface Sizes {
  context: number;
  /** The longest answer. */
  answer: number;
  /** What conversations beside the cache may take: one of these. */
  budgets: readonly number[];
}

export interface HistoryEngine {
  sizes: Sizes;
  /** Checks of the clock that a turn lasts. */
  turnTicks: number;
  /** A request is stopped at a check of its loop, which a prompt has, too, or at a token of its answer. */
  stopsAt: 'check' | 'token';
  /** An engine that has just been loaded. */
  load(): Session & { backend: Required<Pick<Backend, 'parking' | 'kvBytes'>> };
  /** Lets requests step together where the engine can. */
  join(session: Session, turns: Turns): void;
  /** Steps of several requests so far. */
  readonly together: number;
  kvType: KvType;
  /** Answers as an engine does that has no history. */
  fresh: Session;
}

export async function cpuHistories(): Promise<HistoryEngine> {
  const folder = new URL(`../../fixtures/llama/${TINY}`, import.meta.url).pathname;
  const files = await openModel(droppedFolder(folder));
  const config = readConfig(files);
  const weights = await loadCpuWeights(resolveTensors(files, config));
  const sizes = { context: 160, answer: 10, budgets: [0, 100, 300, 1000] };
  const load = () => {
    const backend = new CpuBackend(config, weights, sizes.context);
    return Object.assign(byteSession(backend), { backend });
  };
  return { sizes, turnTicks: 0, stopsAt: 'check', load, join() {}, together: 0, kvType: 'f32', fresh: load() };
}

/** Rooms of slots differ by so many positions, as each compiles kernels of its own. */
const ROOM_STEP = 96;

/** Batches cost what a step of one request does. All engines share a backend: it takes seconds to make. */
export async function batchHistories(gpu: Gpu, kvType: KvType = 'f32'): Promise<HistoryEngine> {
  await import('../../../src/engine/worker/batch/batch_turns'); // a late part leaves the requests to their turns
  const sizes = { context: 192, answer: 50, budgets: [600, 2000, 4000] };
  const load = () => tinyBackend(gpu, sizes.context, undefined, kvType);
  const [backend, fresh] = [await load(), await load()];
  const batch = backend.batch.bind(backend);
  let together = 0;
  backend.batch = async (asked) => {
    const room = asked.room - (asked.room % ROOM_STEP);
    const batching = asked.least > room ? null : await batch({ ...asked, room });
    let members = 0;
    return (
      batching && {
        ...batching,
        cost: () => 1,
        isCostSure: true,
        setMembers(next) {
          members = next.length;
          batching.setMembers(next);
        },
        steps(count, timed) {
          if (members > 1) together += count;
          return batching.steps(count, timed);
        },
      }
    );
  };
  return {
    sizes,
    turnTicks: 4,
    stopsAt: 'token',
    load: () => Object.assign(byteSession(backend), { backend }),
    join(session, turns) {
      session.batches = new Batches(session, turns, () => 0);
    },
    get together() {
      return together;
    },
    kvType,
    fresh: byteSession(fresh),
  };
}
