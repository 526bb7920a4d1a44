// Whether a model fits a machine. Nobody tells a page how much memory a GPU has free, so a verdict is certain only
// where a model of that size has run or was refused here; otherwise it follows from the kind of machine. Pure.

import { kvRoom, kvRowBytes } from '../../../shared/kv_rows';
import type { CatalogueModel } from '../list/catalogue';
import type { Experience } from './experience';
import type { Machine } from './machine';

/** `fits` was seen here, `likely` and `unsure` follow from the kind of machine, `no` cannot work. */
type Verdict = 'fits' | 'likely' | 'unsure' | 'no';

/** The reason why a model does not fit. */
type Obstacle = 'refused' | 'cpu' | 'phone' | 'memory';

export interface Fit {
  readonly verdict: Verdict;
  /** Memory that the model takes with a conversation of usual length: an estimate. */
  readonly needBytes: number;
  /** Given with `no`. */
  readonly obstacle: Obstacle | null;
}

/** Tokens of a usual conversation. */
const USUAL_CONTEXT = 4096;
/** Activations, the scratch of attention and the program itself. */
const BESIDE = 150e6;
/** Most bytes of weights on the CPU, where each takes four. */
const CPU_WEIGHTS = 2 ** 32;
/** The memory that a tab on a phone may take without being closed. */
const PHONE_BUDGET = 1.2e9;
/** `deviceMemory` says no more than this in most browsers: a machine that reports it may have any more. */
const CAPPED_MEMORY = 8 * 2 ** 30;

/**
 * Memory that a model takes: on a GPU as the file holds it, with keys and values of the chosen type; on the CPU four
 * bytes a number.
 */
export function needOf(model: CatalogueModel, { gpu, kvType }: Pick<Machine, 'gpu' | 'kvType'>): number {
  const tokens = Math.min(model.contextLength, USUAL_CONTEXT);
  const onCpu = gpu === 'none';
  const weights = onCpu ? 4 * model.parameters : model.downloadBytes;
  const { layers, heads, headDim, windows } = model.kv;
  const inWindows = windows && !onCpu ? windows : { layers: 0, tokens: 1 }; // the CPU keeps all of every layer
  const room = kvRoom({ contextLength: tokens, maxTokens: 0 }, inWindows.tokens);
  const rows = heads * ((layers - inWindows.layers) * tokens + inWindows.layers * room);
  return weights + 2 * rows * kvRowBytes({ headDim, kvType: onCpu ? 'f32' : kvType }) + BESIDE;
}

export function fitOf(model: CatalogueModel, machine: Machine, seen: Experience): Fit {
  const needBytes = needOf(model, machine);
  const verdict = (verdict: Verdict, obstacle: Obstacle | null = null): Fit => ({ verdict, needBytes, obstacle });
  if (seen.refusedBytes !== null && needBytes >= seen.refusedBytes) return verdict('no', 'refused');
  if (needBytes <= seen.grantedBytes) return verdict('fits');
  if (machine.gpu === 'none' && 4 * model.parameters > CPU_WEIGHTS) return verdict('no', 'cpu');
  const memory = knownMemory(machine);
  if (memory !== null && needBytes > 0.9 * memory) return verdict('no', 'memory');
  const budget = budgetOf(machine);
  if (needBytes <= budget) return verdict('likely');
  return machine.isMobile && needBytes > 2 * budget ? verdict('no', 'phone') : verdict('unsure');
}

/** Memory that a model can be expected to get on such a machine. */
function budgetOf(machine: Machine): number {
  const half = (knownMemory(machine) ?? Number.POSITIVE_INFINITY) / 2;
  if (machine.isMobile) return Math.min(PHONE_BUDGET, half);
  if (machine.gpu !== 'hardware') return Math.min(CPU_WEIGHTS, half);
  // A GPU with little memory offers small buffers. One that offers 2 GB or more usually has at least 4.
  return Math.min(2 * machine.maxBufferBytes, half);
}

/** The device's memory, where the browser's figure is no upper limit of its own. */
function knownMemory({ memoryBytes }: Machine): number | null {
  return memoryBytes !== null && memoryBytes < CAPPED_MEMORY ? memoryBytes : null;
}
