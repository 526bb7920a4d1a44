// Kernels and command lists: compiles WGSL into pipelines, binds buffers, and replays dispatches.

import passPlaces from '../../shaders/places/pass.wgsl?raw';
import { GpuProgramError } from '../errors';
import { why } from '../shared/why';
import { type Bindable, rangeOf } from './buffer_range';
import { GPU_COPY_DST, GPU_UNIFORM, type Gpu } from './device';
import { STEP_BYTES } from './limits';

/** `read` and `write` are storage buffers, `uniform` a small struct. */
export type BindingKind = 'read' | 'write' | 'uniform';

/** A shape constant: a number is u32 when whole, else f32; `{ f32 }` forces f32. Strings name a type or a format. */
export type Constant = number | boolean | { f32: number };

export interface KernelSource {
  /** Room and stem, as in `attention/fused_decode`. */
  label: string;
  /** Libraries first, the kernel last. */
  wgsl: readonly string[];
  /** The shape, as `const NAME = ...;` lines in front of the source. */
  constants: Readonly<Record<string, Constant>>;
  /** Kinds of `@group(0)` bindings 0, 1, 2 ... */
  bindings: readonly BindingKind[];
  entryPoint?: string;
  /** True if the source uses subgroup operations. */
  subgroups?: boolean;
  /** True if the source multiplies subgroup matrices. */
  matrices?: boolean;
  /** Where the tokens of a pass stand if they are not one conversation's. */
  rows?: RowTable;
}

/** The places of the tokens of a pass: steps of several conversations. */
export interface RowTable {
  /** Most tokens of a pass. */
  most: number;
  /** Instead of places/pass.wgsl, with its constants. */
  wgsl: string;
  /** The bind group of the table, with the first index that no kernel uses. */
  index: number;
  layout: GPUBindGroupLayout;
  group: GPUBindGroup;
}

/** The only numbers that change from step to step (`Step` in the shaders). */
export interface Step {
  /** Position in the context of the first token of this pass. */
  position: number;
  /** Tokens in this pass: 1 in decode. */
  nTokens: number;
}

const STEP_STRUCT = `struct Step { position: u32, n_tokens: u32 }`;
const STEP_IMMEDIATE = `${STEP_STRUCT}\nvar<immediate> step: Step;\n`;
const STEP_UNIFORM = `${STEP_STRUCT}\n@group(1) @binding(0) var<uniform> step: Step;\n`;

/** A compiled pipeline with its binding layout. */
export class Kernel {
  constructor(
    private readonly gpu: Gpu,
    readonly label: string,
    readonly pipeline: GPUComputePipeline,
    private readonly layout: GPUBindGroupLayout,
    private readonly bindingCount: number,
  ) {}

  /** Binds buffers to `@binding(0..)`, in order. Called while a model loads, never for a token. */
  bind(...buffers: readonly Bindable[]): GPUBindGroup {
    if (buffers.length !== this.bindingCount) {
      throw new GpuProgramError(this.label, `binds ${this.bindingCount} buffers, was given ${buffers.length}`);
    }
    return this.gpu.device.createBindGroup({
      label: this.label,
      layout: this.layout,
      entries: buffers.map((buffer, binding) => ({ binding, resource: rangeOf(buffer) })),
    });
  }
}

export function constantLines(constants: Readonly<Record<string, Constant>>): string {
  return Object.entries(constants)
    .map(([name, value]) => `const ${name} = ${literal(value)};`)
    .join('\n');
}

function literal(value: Constant): string {
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'object') return `f32(${value.f32})`;
  return Number.isInteger(value) && value >= 0 ? `${value}u` : `f32(${value})`;
}

/** The whole source as compiled: directives, Step, constants, libraries, kernel. */
function assemble(gpu: Gpu, source: KernelSource): string {
  const directives = [
    source.subgroups ? 'enable subgroups;' : '',
    source.matrices ? 'enable chromium_experimental_subgroup_matrix;' : '',
    gpu.can.immediates ? 'requires immediate_address_space;' : '',
    source.subgroups ? 'diagnostic(off, subgroup_uniformity);' : '',
    source.matrices ? 'diagnostic(off, chromium.subgroup_matrix_uniformity);' : '',
  ];
  const step = gpu.can.immediates ? STEP_IMMEDIATE : STEP_UNIFORM;
  const places = source.rows?.wgsl ?? passPlaces;
  return [...directives.filter(Boolean), step, constantLines(source.constants), places, ...source.wgsl].join('\n');
}

const compiled = new WeakMap<Gpu, Map<string, Promise<Kernel>>>();

/** Compiles each source once, without blocking the device. A refusal names the kernel and the line. */
export function createKernel(gpu: Gpu, source: KernelSource): Promise<Kernel> {
  const code = assemble(gpu, source);
  const key = [source.entryPoint, source.bindings, code].join('\n');
  const kernels = compiled.get(gpu) ?? new Map<string, Promise<Kernel>>();
  compiled.set(gpu, kernels);
  const known = kernels.get(key);
  if (known) return known;
  const kernel = compile(gpu, source, code);
  kernels.set(key, kernel);
  kernel.catch(() => kernels.delete(key));
  return kernel;
}

async function compile(gpu: Gpu, source: KernelSource, code: string): Promise<Kernel> {
  const { device } = gpu;
  const { label } = source;
  const layout = device.createBindGroupLayout({
    label,
    entries: source.bindings.map((kind, binding) => ({
      binding,
      visibility: 4, // GPUShaderStage.COMPUTE
      buffer: { type: BUFFER_TYPE[kind] },
    })),
  });
  // A refused shader is this call's error, not the device's.
  device.pushErrorScope('validation');
  const module = device.createShaderModule({ label, code });
  const refused = device.popErrorScope();
  refused.catch(ignore); // the pipeline reports a lost device
  const pipelineLayout = device.createPipelineLayout({
    label,
    bindGroupLayouts: [
      layout,
      ...(gpu.can.immediates ? [] : [stepUniform(gpu).layout]),
      ...(source.rows ? [source.rows.layout] : []),
    ],
    ...(gpu.can.immediates ? { immediateSize: STEP_BYTES } : {}),
  });
  try {
    const compute = { module, entryPoint: source.entryPoint ?? 'main' };
    const pipeline = await device.createComputePipelineAsync({ label, layout: pipelineLayout, compute });
    await refused;
    gpu.counters.pipelines++;
    return new Kernel(gpu, label, pipeline, layout, source.bindings.length);
  } catch (error) {
    const where = await refusedLine(module, code).catch(() => null);
    if (where !== null) throw new GpuProgramError(label, why`the shader was refused. ${where}`);
    throw await gpu.explain(new GpuProgramError(label, why`the shader was refused. ${(error as Error).message}`));
  }
}

function ignore(): void {}

/** Where Firefox repeats the source in its message. */
const EXCERPT = /\s+┌/;

/** The first line that the compiler refused, and why; null where it refused none. */
async function refusedLine(module: GPUShaderModule, code: string): Promise<string | null> {
  const { messages } = await module.getCompilationInfo();
  const first = messages.find(({ type }) => type === 'error');
  if (!first) return null;
  const { lineNum, linePos, message } = first;
  const lines = code.split('\n');
  const line = lines[lineNum - 1]?.slice(Math.max(0, linePos - 60), linePos + 60);
  return `${placeOf(lines, lineNum)}: ${line?.trim()}\n${message.split(EXCERPT)[0]}`;
}

/** The mark before the text of each file. Builds leave it out. */
const MARK = '// --- ';

/** `shaders/linear/matvec.wgsl line 40`, or the line of the whole source where no mark stands in front of it. */
function placeOf(lines: readonly string[], lineNum: number): string {
  if (!import.meta.env.DEV) return `line ${lineNum}`;
  const mark = lines.slice(0, lineNum).findLastIndex((line) => line.startsWith(MARK));
  return mark < 0 ? `line ${lineNum}` : `${lines[mark].slice(MARK.length)} line ${lineNum - mark - 1}`;
}

const BUFFER_TYPE = { read: 'read-only-storage', write: 'storage', uniform: 'uniform' } as const;

/** The step without immediates: one uniform, rewritten before each submit. Queue order keeps earlier steps intact. */
interface StepUniform {
  buffer: GPUBuffer;
  layout: GPUBindGroupLayout;
  group: GPUBindGroup;
}

const stepUniforms = new WeakMap<Gpu, StepUniform>();

function stepUniform(gpu: Gpu): StepUniform {
  const known = stepUniforms.get(gpu);
  if (known) return known;
  const label = 'gpu.step';
  const buffer = gpu.createBuffer(label, STEP_BYTES, GPU_UNIFORM | GPU_COPY_DST);
  const entry = { binding: 0, visibility: 4, buffer: { type: 'uniform' as const } };
  const layout = gpu.device.createBindGroupLayout({ label, entries: [entry] });
  const group = gpu.device.createBindGroup({ label, layout, entries: [{ binding: 0, resource: { buffer } }] });
  const made = { buffer, layout, group };
  stepUniforms.set(gpu, made);
  return made;
}

/** One dispatch of a command list. */
export interface Command {
  /** The kernel's. */
  label: string;
  pipeline: GPUComputePipeline;
  group: GPUBindGroup;
  x: number;
  y: number;
  z: number;
}

/** Work of the CPU in the middle of a pass. It waits for earlier submits, and later ones wait for it. */
export type HostStep = (step: Step) => Promise<void>;

/** Commands of one submit, and the work of the CPU before the next. */
interface Cut {
  commands: Command[];
  host: HostStep | null;
}

/** The dispatches of one submit, and the step that they see. */
export interface Submit {
  commands: readonly Command[];
  step: Step;
}

/** The most that one submit has. */
interface SubmitLimits {
  operations: number;
  dispatches: number;
}

const NO_LIMITS: SubmitLimits = { operations: Number.POSITIVE_INFINITY, dispatches: Number.POSITIVE_INFINITY };

/**
 * A flat list of dispatches, built once and replayed. A replay creates nothing but the encoder and its pass. Limits
 * make the list cut itself into several submits. Host steps cut the list, too.
 */
export class CommandList {
  /** Dispatches after the last cut or host step. */
  readonly commands: Command[] = [];
  private readonly cuts: Cut[] = [];
  /** Adds missing dispatches whenever it is advanced. Null once all are there. */
  private rest: Iterator<unknown> | null = null;
  /** The first submit that sees the last token alone. */
  private lastFrom = Number.POSITIVE_INFINITY;

  /** Counted operations of the dispatches that are there. */
  operations = 0;
  /** Those up to the last cut. */
  private cutOperations = 0;

  /** @param most a submit ends with the counted dispatch that reaches one of these numbers. Default: no limits */
  constructor(
    private readonly gpu: Gpu,
    private readonly most = NO_LIMITS,
  ) {}

  add(kernel: Kernel, group: GPUBindGroup, x: number, y = 1, z = 1): void {
    this.commands.push({ label: kernel.label, pipeline: kernel.pipeline, group, x, y, z });
  }

  /**
   * Adds all further dispatches, of which `rest` adds some whenever it is advanced. A list with limits advances it as
   * late as possible, so that the GPU runs the first submit while the next is recorded.
   */
  addLate(rest: Iterable<unknown>): void {
    this.rest = rest[Symbol.iterator]();
    if (this.most === NO_LIMITS) this.cutAt(Number.POSITIVE_INFINITY);
  }

  /** Adds late dispatches up to the end of cut `i`, or all of them. Returns the cut if there is one. */
  private cutAt(i: number): Cut | undefined {
    try {
      while (this.rest && i >= this.cuts.length) if (this.rest.next().done) this.rest = null;
    } catch (error) {
      this.rest = failing(error); // a generator that threw would pass for one that is done
      throw error;
    }
    return this.cuts[i];
  }

  /** Counts the operations of the dispatches added last. */
  count(operations: number): void {
    this.operations += operations;
    const sinceCut = this.operations - this.cutOperations;
    if (sinceCut >= this.most.operations || this.commands.length >= this.most.dispatches) this.cut(null);
  }

  addHost(host: HostStep): void {
    this.cut(host);
  }

  /** Dispatches from here on see a pass of its last token alone. */
  toLastToken(): void {
    this.cut(null); // a uniform is rewritten between submits alone
    this.lastFrom = this.cuts.length;
  }

  private cut(host: HostStep | null): void {
    this.cuts.push({ commands: this.commands.splice(0), host });
    this.cutOperations = this.operations;
  }

  /** True if the dispatches that are there have the CPU work between them. */
  get needsHost(): boolean {
    return this.cuts.some(({ host }) => host !== null);
  }

  /** The submits of a pass at `step`. */
  submitsAt(step: Step): readonly Submit[] {
    this.cutAt(Number.POSITIVE_INFINITY);
    return [...this.cuts, this].map(({ commands }, i) => ({ commands, step: this.stepOf(i, step) }));
  }

  /** The step that submit `i` sees. */
  private stepOf(i: number, step: Step): Step {
    return i < this.lastFrom ? step : { position: step.position + step.nTokens - 1, nTokens: 1 };
  }

  /**
   * Submits everything from cut `first` up to the last one; `record` adds the rest. Null once that is done. With host
   * steps a promise, which resolves when the last of them and the submits behind it are done.
   */
  runCuts(step: Step, first = 0): Promise<void> | null {
    for (let i = first, cut = this.cutAt(i); cut; cut = this.cutAt(++i)) {
      const { commands, host } = cut;
      const seen = this.stepOf(i, step);
      const encoder = this.gpu.device.createCommandEncoder();
      recordPass(this.gpu, encoder, [{ list: { commands }, step: seen }]);
      this.gpu.submit(encoder.finish());
      const next = i + 1;
      if (host) return host(seen).then(() => this.runCuts(step, next) ?? undefined);
    }
    return null;
  }

  /** Records the dispatches after the last cut into one compute pass of `encoder`, with `step` visible to all. */
  record(encoder: GPUCommandEncoder, step: Step, timestampWrites?: GPUComputePassTimestampWrites): void {
    recordPass(this.gpu, encoder, [{ list: this, step: this.stepOf(this.cuts.length, step) }], timestampWrites);
  }

  /** Runs the whole list in submits of its own. A list without host steps is submitted before this returns. */
  async run(step: Step): Promise<void> {
    const waits = this.runCuts(step);
    if (waits) await waits;
    if (this.commands.length === 0) return;
    const encoder = this.gpu.device.createCommandEncoder();
    this.record(encoder, step);
    this.gpu.submit(encoder.finish());
  }
}

function failing(error: unknown): Iterator<unknown> {
  return {
    next() {
      throw error;
    },
  };
}

/** The dispatches of a list, at a step. */
export interface ListAtStep {
  list: { readonly commands: readonly Command[] };
  step: Step;
  rows?: RowTable;
}

/**
 * Records lists into one compute pass, one after another. Several steps need immediates: a uniform is rewritten between
 * submits alone.
 */
export function recordPass(
  gpu: Gpu,
  encoder: GPUCommandEncoder,
  lists: readonly ListAtStep[],
  timestampWrites?: GPUComputePassTimestampWrites,
): void {
  const uniform = gpu.can.immediates ? null : stepUniform(gpu);
  const pass = encoder.beginComputePass({ timestampWrites });
  if (uniform) pass.setBindGroup(1, uniform.group);
  let pipeline: GPUComputePipeline | null = null;
  for (const { list, step, rows } of lists) {
    if (rows) pass.setBindGroup(rows.index, rows.group);
    STEP_DATA[0] = step.position;
    STEP_DATA[1] = step.nTokens;
    if (uniform) gpu.write(uniform.buffer, STEP_DATA);
    else (pass as unknown as ImmediatePass).setImmediates(0, STEP_DATA);
    for (const command of list.commands) {
      if (command.pipeline !== pipeline) {
        pipeline = command.pipeline;
        pass.setPipeline(pipeline);
      }
      pass.setBindGroup(0, command.group);
      pass.dispatchWorkgroups(command.x, command.y, command.z);
    }
    gpu.counters.dispatches += list.commands.length;
  }
  pass.end();
}

/** The words of a step, which both ways of writing copy at once. */
const STEP_DATA = new Uint32Array(STEP_BYTES / 4);

interface ImmediatePass {
  setImmediates(offset: number, data: ArrayBufferView): void;
}
