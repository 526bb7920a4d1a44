// The shader pieces and constants that all siblings share: cache type, online softmax, softcap, window.

import kvF16 from '../../shaders/attention/kv/kv_f16.wgsl?raw';
import kvF32 from '../../shaders/attention/kv/kv_f32.wgsl?raw';
import noScales from '../../shaders/attention/kv/kv_scales_none.wgsl?raw';
import onlineSoftmax from '../../shaders/attention/online_softmax.wgsl?raw';
import softcapWgsl from '../../shaders/attention/softcap.wgsl?raw';
import windowed from '../../shaders/attention/window.wgsl?raw';
import unwindowed from '../../shaders/attention/window_none.wgsl?raw';
import { GPU_COPY_DST, GPU_UNIFORM, type Gpu } from '../gpu/device';
import type { BindingKind, Constant, KernelSource } from '../gpu/kernel';
import { arrived } from '../shared/part';
import { why } from '../shared/why';
import { type AttentionName, type AttentionShape, check } from './attention';
import { kvRoom } from './kv_layout';
import type { KvCells } from './kv_q8';

const WINDOW_BYTES = 16;
/** The window of a layer that sees all keys. */
const NO_WINDOW = 2 ** 32 - 1;

type AttentionSource = Pick<KernelSource, 'wgsl' | 'constants' | 'bindings' | 'rows'>;

/**
 * The pieces and constants in front of a sibling's own source. `bindings` are the sibling's, which binds the caches in
 * quads, octs or cells; a window is bound behind them.
 */
export async function attentionSource(
  shape: AttentionShape,
  bindings: readonly BindingKind[],
  cells: KvCells,
): Promise<AttentionSource> {
  const { nHeads, nKvHeads, headDim, contextLength, kvType, scale, softcap, causal = true } = shape;
  const constants: Record<string, Constant> = {
    N_HEADS: nHeads,
    N_KV_HEADS: nKvHeads,
    GQA_GROUP: nHeads / nKvHeads,
    HEAD_DIM: headDim,
    CONTEXT: contextLength,
    Q_SCALE: { f32: Math.LOG2E * scale },
    CAUSAL: causal,
    CAPPED: softcap !== null,
    SOFTCAP: { f32: softcap ?? 1 },
  };
  if (shape.windowed) constants.WINDOW_BINDING = bindings.length;
  return {
    wgsl: [
      ...(kvType === 'q8' ? await piecesInBytes(cells) : [kvType === 'f16' ? kvF16 : kvF32, noScales]),
      onlineSoftmax,
      softcapWgsl,
      shape.windowed ? windowed : unwindowed,
    ],
    constants,
    bindings: shape.windowed ? [...bindings, 'uniform'] : bindings,
    rows: shape.rows,
  };
}

async function piecesInBytes(cells: KvCells): Promise<readonly string[]> {
  const { KV_PIECES } = await arrived(import('./kv_q8'));
  return KV_PIECES[cells];
}

/** The uniforms of a sibling's windows: one for each window and room of some layer, made when it is bound first. */
export class Windows {
  private readonly buffers = new Map<string, GPUBuffer>();

  constructor(
    private readonly gpu: Gpu,
    private readonly name: AttentionName,
    private readonly shape: AttentionShape,
  ) {}

  /**
   * The last bindings of a layer: none if the shape has no windows.
   * @throws AttentionUnavailable for a window that no shader would look at
   */
  of(window: number | null, room = kvRoom(this.shape, window)): GPUBuffer[] {
    checkWindow(this.name, this.shape.windowed, window);
    if (!this.shape.windowed) return [];
    const keys = Math.min(window ?? NO_WINDOW, NO_WINDOW);
    const name = `${keys} ${room}`;
    const buffer = this.buffers.get(name) ?? this.create(keys, room);
    this.buffers.set(name, buffer);
    return [buffer];
  }

  private create(keys: number, room: number): GPUBuffer {
    const buffer = this.gpu.createBuffer(`attention.${this.name}.window`, WINDOW_BYTES, GPU_UNIFORM | GPU_COPY_DST);
    this.gpu.write(buffer, new Uint32Array([keys, room]));
    return buffer;
  }

  destroy(): void {
    for (const buffer of this.buffers.values()) this.gpu.destroyBuffer(buffer);
    this.buffers.clear();
  }
}

export function checkWindow(name: AttentionName, isWindowed: boolean, window: number | null): void {
  if (window === null) return;
  check(name, isWindowed, why`it was compiled without windows, and a layer has one of ${window} keys`);
  check(name, Number.isInteger(window) && window > 0, why`a window of ${window} keys is no positive whole number`);
}
