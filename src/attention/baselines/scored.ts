// The common half of eager and chunked, which keep scores in memory: one source with several entry points, the buffer
// of scores, and for each part of the work a uniform with the place where the part begins.

import { GPU_COPY_DST, GPU_STORAGE, GPU_UNIFORM, type Gpu } from '../../gpu/device';
import { type Constant, createKernel, type Kernel } from '../../gpu/kernel';
import type { AttentionKernel, AttentionName, AttentionShape } from '../attention';
import { attentionSource, Windows } from '../source';
import { PART_BYTES } from './baseline_plans';

interface ScoredParts {
  name: AttentionName;
  wgsl: string;
  constants: Readonly<Record<string, Constant>>;
  entryPoints: readonly string[];
  scoresBytes: number;
  /** `chunk` or `slab`. */
  part: string;
  /** The first token or head of each part. */
  firsts: readonly number[];
}

export interface Scored {
  /** One for each entry point, in their order. */
  kernels: readonly Kernel[];
  /** A group for each part, which serves all kernels. */
  bind(...buffers: Parameters<AttentionKernel['bind']>): GPUBindGroup[];
  destroy(): void;
}

export async function createScored(gpu: Gpu, shape: AttentionShape, parts: ScoredParts): Promise<Scored> {
  const { name, wgsl, constants, entryPoints, scoresBytes, part, firsts } = parts;
  const source = await attentionSource(shape, ['read', 'read', 'read', 'write', 'write', 'uniform'], 'quads');
  const windows = new Windows(gpu, name, shape);
  const kernel = (entryPoint: string) =>
    createKernel(gpu, {
      ...source,
      label: `attention/${name}.${entryPoint}`,
      wgsl: [...source.wgsl, wgsl],
      constants: { ...source.constants, ...constants },
      entryPoint,
    });
  const kernels = await Promise.all(entryPoints.map(kernel));
  const uniform = (first: number) => {
    const buffer = gpu.createBuffer(`attention.${name}.${part}`, PART_BYTES, GPU_UNIFORM | GPU_COPY_DST);
    gpu.write(buffer, new Uint32Array([first]));
    return buffer;
  };
  const { scores, uniforms } = await gpu.guardMemory(`The scores of attention "${name}"`, () => ({
    scores: gpu.createBuffer(`attention.${name}.scores`, scoresBytes, GPU_STORAGE),
    uniforms: firsts.map(uniform),
  }));
  return {
    kernels,
    bind: (q, k, v, out, window, room) =>
      uniforms.map((each) => kernels[0].bind(q, k, v, out, scores, each, ...windows.of(window, room))),
    destroy() {
      for (const buffer of [scores, ...uniforms]) gpu.destroyBuffer(buffer);
      windows.destroy();
    },
  };
}
