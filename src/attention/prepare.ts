// Makes attention ready for a model: chosen by cache length, compiled, and checked on this very GPU. A sibling that
// does not compile or gives wrong numbers is set aside, and the next in the order of preference takes its place.

import { AttentionUnavailable, GpuMemoryError, GpuProgramError } from '../errors';
import type { Gpu } from '../gpu/device';
import { quoted, type Reason, why } from '../shared/why';
import { type AttentionKernel, type AttentionName, type AttentionShape, attentionLimits } from './attention';
import { type AttentionBuffers, checkAttention } from './check';
import { createAttention } from './create';
import type { AttentionProfile } from './profile';
import { explain, LONG_PROMPT, type SelectedAttention, scratchOf, selectAttention } from './select';

export interface PrepareOptions {
  /** A sibling for prefill and decode alike, or `auto`. */
  forced?: AttentionName | 'auto';
  profile?: AttentionProfile;
  /** True if long prompts may have queries, keys and values rounded to signed bytes. */
  inBytes?: boolean;
  /** The buffers of any layer. Their contents at the first few hundred positions are lost. */
  buffers: AttentionBuffers;
}

export interface Ready {
  selected: SelectedAttention;
  kernel: AttentionKernel;
}

/** A sibling that failed on this GPU. */
export interface SetAside {
  name: AttentionName;
  /** The fault and the sibling that runs instead, in a sentence or two. */
  message: string;
}

export class PreparedAttention {
  constructor(
    readonly prefill: Ready,
    /** The sibling of prompts from LONG_PROMPT keys on: mostly the same. */
    readonly longPrefill: Ready,
    /** Siblings by cache length. Entry i is for 2^(i-1) + 1 to 2^i keys, the last for those up to the context's end. */
    readonly decode: readonly Ready[],
    readonly setAside: readonly SetAside[],
  ) {}

  /** The sibling for a pass of nTokens whose last token sees kvLen keys. */
  at(nTokens: number, kvLen: number): Ready {
    if (nTokens === 1) return this.decode[rangeOf(kvLen)];
    return kvLen < LONG_PROMPT ? this.prefill : this.longPrefill;
  }

  private get ready(): readonly Ready[] {
    return [this.prefill, this.longPrefill, ...this.decode];
  }

  /** Each once. */
  get kernels(): Set<AttentionKernel> {
    return new Set(this.ready.map(({ kernel }) => kernel));
  }

  /** Which sibling decodes at which length, and why, as a fragment of a sentence for people. */
  get reason(): Reason {
    const all = this.ready.map(({ selected }) => selected);
    return explain(
      [...describeDecode(this.decode), ...all.map(({ rule }) => rule)],
      all.flatMap(({ skipped }) => skipped),
    );
  }

  /** Checks the kernels in use as at load, on buffers whose contents may be lost. The first fault, or null. */
  async check(gpu: Gpu, shape: AttentionShape, buffers: AttentionBuffers): Promise<string | null> {
    const kernelsOf = (ready: readonly Ready[]) => [...new Set(ready.map(({ kernel }) => kernel))];
    const uses = [
      ...kernelsOf([this.prefill, this.longPrefill]).map((kernel) => [kernel, shape.maxTokens] as const),
      ...kernelsOf(this.decode).map((kernel) => [kernel, 1] as const),
    ];
    for (const [kernel, nTokens] of uses) {
      const wrong = await checkAttention(gpu, kernel, shape, buffers, nTokens);
      if (wrong !== null) return `${kernel.name}: ${oneLine(wrong)}`;
    }
    return null;
  }

  /** Frees the scratch memory. */
  destroy(): void {
    for (const kernel of this.kernels) kernel.destroy();
  }
}

/** Bytes of the scratch memory of all siblings that `prepareAttention` chooses first; 0 where none can run. */
export function plannedScratch(
  gpu: Gpu,
  shape: AttentionShape,
  { forced, profile, inBytes }: Omit<PrepareOptions, 'buffers'>,
): number {
  const { contextLength, maxTokens } = shape;
  const limits = attentionLimits(gpu);
  const select = (nTokens: number, kvLen: number) =>
    selectAttention({ nTokens, kvLen, shape, limits, forced, profile, inBytes });
  const scratch = new Map<string, number>();
  const plan = (selected: SelectedAttention, within: AttentionShape) => {
    const key = keyOf(selected);
    if (!scratch.has(key)) scratch.set(key, scratchOf(selected, within, limits));
  };
  try {
    for (const kvLen of promptEnds(contextLength)) plan(select(maxTokens, kvLen), shape);
    for (const kvLen of rangeEnds(contextLength)) plan(select(1, kvLen), stepShape(shape));
  } catch {
    return 0; // preparing says why
  }
  return [...scratch.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** The shape of kernels that run steps alone: their scratch memory is that of one token. */
function stepShape(shape: AttentionShape): AttentionShape {
  return { ...shape, maxTokens: 1 };
}

/** @throws AttentionUnavailable when the forced sibling cannot run or is wrong here, or when no sibling is left */
export async function prepareAttention(
  gpu: Gpu,
  shape: AttentionShape,
  { forced, profile, inBytes, buffers }: PrepareOptions,
): Promise<PreparedAttention> {
  const bench = new Workbench(gpu, shape, buffers);
  let tuned = profile;
  const select = (nTokens: number, kvLen: number) =>
    selectAttention({
      nTokens,
      kvLen,
      shape,
      limits: attentionLimits(gpu),
      forced,
      profile: tuned,
      inBytes,
      setAside: bench.broken,
    });
  const ready = (selected: SelectedAttention): Ready => ({ selected, kernel: bench.kernel(selected) });
  try {
    for (;;) {
      const [prefill, longPrefill] = promptEnds(shape.contextLength).map((kvLen) => select(shape.maxTokens, kvLen));
      const decode = rangeEnds(shape.contextLength).map((kvLen) => select(1, kvLen));
      if (!(await bench.make([prefill, longPrefill], decode))) {
        // A profile gone bad, say by a new driver, says nothing of the siblings with their default parameters.
        if (tuned) bench.broken.clear();
        tuned = undefined;
        continue;
      }
      const setAside = describeSetAside(bench.broken, [prefill, longPrefill, ...decode]);
      const prepared = new PreparedAttention(ready(prefill), ready(longPrefill), decode.map(ready), setAside);
      bench.clear(prepared.kernels);
      return prepared;
    }
  } catch (error) {
    bench.clear(new Set());
    throw gpu.failure ?? error; // on a lost device every sibling fails
  }
}

/** Kernels under preparation: each compiled once, and checked once for each kind of pass that it is chosen for. */
class Workbench {
  /** The faults of siblings that failed. */
  readonly broken = new Map<AttentionName, string>();
  private readonly kernels = new Map<string, AttentionKernel>();
  /** Keys of the siblings that are chosen for prompts. */
  private ofPrompts: ReadonlySet<string> = new Set();
  private readonly checked = new Set<string>();

  constructor(
    private readonly gpu: Gpu,
    private readonly shape: AttentionShape,
    private readonly buffers: AttentionBuffers,
  ) {}

  kernel(selected: SelectedAttention): AttentionKernel {
    return this.kernels.get(this.kernelKey(selected)) as AttentionKernel;
  }

  private kernelKey(selected: SelectedAttention): string {
    const key = keyOf(selected);
    return this.ofPrompts.has(key) ? `${key} in prompts` : key;
  }

  /** False when one of these turned out to be broken. */
  async make(prefill: readonly SelectedAttention[], decode: readonly SelectedAttention[]): Promise<boolean> {
    const before = this.broken.size;
    this.ofPrompts = new Set(prefill.map(keyOf));
    const each = new Map([...prefill, ...decode].map((selected) => [keyOf(selected), selected]));
    await Promise.all([...each.values()].map((selected) => this.compile(selected)));
    // One after another: they share the buffers.
    for (const selected of prefill) await this.check(selected, this.shape.maxTokens);
    for (const selected of decode) await this.check(selected, 1);
    return this.broken.size === before;
  }

  private async compile(selected: SelectedAttention): Promise<void> {
    const key = this.kernelKey(selected);
    if (this.kernels.has(key)) return;
    const shape = this.ofPrompts.has(keyOf(selected)) ? this.shape : stepShape(this.shape);
    try {
      this.kernels.set(key, await createAttention(this.gpu, selected.name, shape, selected.parameters));
    } catch (error) {
      const own = [GpuProgramError, GpuMemoryError, AttentionUnavailable].some((type) => error instanceof type);
      if (!own || this.gpu.failure) throw this.gpu.failure ?? error;
      this.broken.set(selected.name, oneLine((error as Error).message));
    }
  }

  private async check(selected: SelectedAttention, nTokens: number): Promise<void> {
    const pass = `${this.kernelKey(selected)} ${nTokens}`;
    if (this.broken.has(selected.name) || this.checked.has(pass)) return;
    const wrong = await checkAttention(this.gpu, this.kernel(selected), this.shape, this.buffers, nTokens);
    if (this.gpu.failure) throw this.gpu.failure; // not this kernel's: its check has error scopes of its own
    if (wrong === null) this.checked.add(pass);
    else this.broken.set(selected.name, oneLine(wrong));
  }

  /** Frees the scratch memory of all but `keep`. */
  clear(keep: ReadonlySet<AttentionKernel>): void {
    for (const kernel of this.kernels.values()) if (!keep.has(kernel)) kernel.destroy();
  }
}

/** Cuts off the source that shader compilers quote, and the period. */
function oneLine(message: string): string {
  const line = message
    .replace(/(\S+\.wgsl )?line \d+: .*\n/, '')
    .replace(/\s+/g, ' ')
    .replace(/\.$/, '');
  return line.length > 200 ? `${line.slice(0, 200)}...` : line;
}

function describeSetAside(broken: ReadonlyMap<AttentionName, string>, all: readonly SelectedAttention[]): SetAside[] {
  return [...broken].map(([name, wrong]) => {
    const after = all.filter(({ skipped }) => skipped.some((other) => other.name === name));
    const names = [...new Set(after.map((selected) => selected.name))];
    const instead = `${names.join(' and ')} ${names.length > 1 ? 'run' : 'runs'} instead`;
    return { name, message: `The attention kernel ${name} is not used: ${wrong}. ${instead}.` };
  });
}

/**
 * A phrase like "fused_decode up to 256 keys, then split_kv_decode (4 to 64 splits)"; empty for a single unsplit
 * sibling.
 */
function describeDecode(decode: readonly Ready[]): Reason[] {
  const parts: { name: AttentionName; upTo: number; splits: number[] }[] = [];
  for (const [i, { selected }] of decode.entries()) {
    const last = parts.at(-1);
    const part = last?.name === selected.name ? last : { name: selected.name, upTo: 0, splits: [] };
    if (part !== last) parts.push(part);
    part.upTo = 2 ** i;
    if (selected.parameters.SPLITS) part.splits.push(selected.parameters.SPLITS);
  }
  if (parts.length === 1 && parts[0].splits.length === 0) return [];
  const texts = parts.map(({ name, upTo, splits }, i) => {
    const [least, most] = [Math.min(...splits), Math.max(...splits)];
    const range = least === most ? why`${most} splits` : why`${least} to ${most} splits`;
    const detail = splits.length === 0 ? name : why`${name} (${most === 1 ? why`1 split` : range})`;
    return i < parts.length - 1 ? why`${detail} up to ${upTo} keys` : quoted(detail);
  });
  return [texts.reduceRight((rest, text) => why`${text}, then ${rest}`)];
}

function keyOf({ name, parameters }: SelectedAttention): string {
  return `${name} ${JSON.stringify(parameters)}`;
}

/** i for 2^(i-1) + 1 to 2^i keys. */
function rangeOf(kvLen: number): number {
  return 32 - Math.clz32(kvLen - 1);
}

/** The most keys of a short prompt, and of a long one. */
function promptEnds(contextLength: number): number[] {
  return [Math.min(contextLength, LONG_PROMPT - 1), contextLength];
}

/**
 * The longest cache of each range; the last end may lie past the context, so that a range is the same in every context.
 */
function rangeEnds(contextLength: number): number[] {
  return Array.from({ length: rangeOf(contextLength) + 1 }, (_, i) => 2 ** i);
}
