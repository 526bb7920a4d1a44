// The buffers of weight matrices: those of layers lie together in a few large buffers, so that one binding reaches the
// weights of many layers; others have buffers of their own.

import { alignUp, type BufferRange, rangeOf } from '../gpu/buffer_range';
import { bufferBytes, GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, type Gpu } from '../gpu/device';
import {
  type FormatRange,
  planeBytes,
  planParts,
  type WeightMatrix,
  type WeightPart,
} from '../kernels/linear/weight_format';

/**
 * Consecutive layers whose matrices lie in two buffers: every part of them is a range of `weights` and one of `scales`.
 */
export interface WeightArena {
  firstLayer: number;
  nLayers: number;
  weights: GPUBuffer;
  scales: GPUBuffer;
}

/** A matrix that has no buffers yet. */
export interface PlannedMatrix {
  label: string;
  rows: number;
  cols: number;
  parts: readonly FormatRange[];
}

const USAGE = GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC;

const PLANES = ['weights', 'scales'] as const;

/** Bytes of both planes. */
type PlaneBytes = ReturnType<typeof planeBytes>;

/** A matrix of the rows of `formats`, cut into parts of which each fits one binding. */
export function planMatrix(gpu: Gpu, label: string, formats: readonly FormatRange[], cols: number): PlannedMatrix {
  const parts = formats.flatMap(({ format, row0, rows }) =>
    planParts(label, format, rows, cols, gpu.bindingLimit).map(
      (range): FormatRange => ({ format, row0: row0 + range.row0, rows: range.rows }),
    ),
  );
  return { label, rows: formats.reduce((sum, { rows }) => sum + rows, 0), cols, parts };
}

/** Gives every part of a matrix two buffers of its own. */
export function allocateMatrix(gpu: Gpu, { label, rows, cols, parts }: PlannedMatrix): WeightMatrix {
  const made = parts.map((part): WeightPart => {
    const bytes = planeBytes(part.format, part.rows, cols);
    const name = parts.length === 1 ? label : `${label}.rows_${part.row0}`;
    const weights = rangeOf(gpu.createBuffer(name, bytes.weights, USAGE));
    return { ...part, weights, scales: rangeOf(gpu.createBuffer(`${name}.scales`, bytes.scales, USAGE)) };
  });
  return { rows, cols, parts: made };
}

/**
 * Gives the matrices of layers their buffers: arenas of as many layers as one binding holds. The matrices of a layer
 * that exceeds a binding have buffers of their own.
 */
export function allocateLayers(
  gpu: Gpu,
  layers: readonly (readonly PlannedMatrix[])[],
): { arenas: WeightArena[]; matrices: WeightMatrix[][] } {
  const arenas: WeightArena[] = [];
  const matrices: WeightMatrix[][] = [];
  for (const { firstLayer, nLayers, bytes } of planArenas(gpu, layers)) {
    const own = layers.slice(firstLayer, firstLayer + nLayers);
    if (!bytes) {
      matrices.push(...own.map((layer) => layer.map((matrix) => allocateMatrix(gpu, matrix))));
      continue;
    }
    const label = `weights.layer.${firstLayer}_to_${firstLayer + nLayers - 1}`;
    const weights = gpu.createBuffer(label, bytes.weights, USAGE);
    const scales = gpu.createBuffer(`${label}.scales`, bytes.scales, USAGE);
    arenas.push({ firstLayer, nLayers, weights, scales });
    const place = placeIn(gpu, { weights, scales });
    matrices.push(...own.map((layer) => layer.map(place)));
  }
  return { arenas, matrices };
}

/** The layers of each arena and its bytes; layers that fit no arena have none. */
function planArenas(
  gpu: Gpu,
  layers: readonly (readonly PlannedMatrix[])[],
): { firstLayer: number; nLayers: number; bytes: PlaneBytes | null }[] {
  const arenas: { firstLayer: number; nLayers: number; bytes: PlaneBytes | null }[] = [];
  const fits = (bytes: PlaneBytes) => PLANES.every((plane) => bytes[plane] <= gpu.bindingLimit);
  for (const [firstLayer, layer] of layers.entries()) {
    const bytes = layerBytes(gpu, layer);
    const last = arenas.at(-1);
    const joined = last?.bytes && sum(last.bytes, bytes);
    if (last && joined && fits(joined)) {
      last.bytes = joined;
      last.nLayers++;
    } else {
      arenas.push({ firstLayer, nLayers: 1, bytes: fits(bytes) ? bytes : null });
    }
  }
  return arenas;
}

/** Bytes of a layer in an arena: each of its parts takes whole multiples of the alignment. */
function layerBytes(gpu: Gpu, layer: readonly PlannedMatrix[]): PlaneBytes {
  const parts = layer.flatMap(({ parts, cols }) => parts.map(({ format, rows }) => planeBytes(format, rows, cols)));
  return parts
    .map(({ weights, scales }) => ({ weights: paddedBytes(gpu, weights), scales: paddedBytes(gpu, scales) }))
    .reduce(sum);
}

const paddedBytes = (gpu: Gpu, size: number): number => alignUp(bufferBytes(size), gpu.rangeAlignment);

const sum = (a: PlaneBytes, b: PlaneBytes): PlaneBytes => ({
  weights: a.weights + b.weights,
  scales: a.scales + b.scales,
});

/** Puts matrix after matrix into an arena. */
function placeIn(gpu: Gpu, arena: Pick<WeightArena, 'weights' | 'scales'>): (matrix: PlannedMatrix) => WeightMatrix {
  const end: PlaneBytes = { weights: 0, scales: 0 };
  const take = (plane: keyof PlaneBytes, bytes: number): BufferRange => {
    const range = { buffer: arena[plane], offset: end[plane], size: bufferBytes(bytes) };
    end[plane] += paddedBytes(gpu, bytes);
    return range;
  };
  return ({ rows, cols, parts }) => ({
    rows,
    cols,
    parts: parts.map((part): WeightPart => {
      const { weights, scales } = planeBytes(part.format, part.rows, cols);
      return { ...part, weights: take('weights', weights), scales: take('scales', scales) };
    }),
  });
}
