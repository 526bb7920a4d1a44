// The buffers of weight matrices: those of layers lie together in a few large buffers, so that one binding reaches the
// weights of many layers; others have buffers of their own.

import { type BufferRange, rangeOf, rangeStride, storedBytes } from '../../gpu/buffer_range';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, type Gpu } from '../../gpu/device';
import {
  type FormatRange,
  planeBytes,
  planParts,
  type WeightMatrix,
  type WeightPart,
} from '../../kernels/linear/weight_format';

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

/** Bytes of both planes. */
type PlaneBytes = ReturnType<typeof planeBytes>;

/** Gives a plane of a part its range. */
type Take = (plane: keyof PlaneBytes, bytes: number, label: string) => BufferRange;

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
export function allocateMatrix(gpu: Gpu, matrix: PlannedMatrix): WeightMatrix {
  return place(matrix, wholeBuffers(gpu));
}

/** Creates a buffer for each range. */
function wholeBuffers(gpu: Gpu): Take {
  return (plane, bytes, label) =>
    rangeOf(gpu.createBuffer(plane === 'weights' ? label : `${label}.scales`, bytes, USAGE));
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
  const sizes = layers.map(layerBytes);
  const fits = (bytes: PlaneBytes) => Math.max(bytes.weights, bytes.scales) <= gpu.bindingLimit;
  for (let firstLayer = 0, end = 0; firstLayer < layers.length; firstLayer = end) {
    let bytes = sizes[end++];
    while (end < layers.length && fits(sum(bytes, sizes[end]))) bytes = sum(bytes, sizes[end++]);
    let take = wholeBuffers(gpu); // of a single layer
    if (fits(bytes)) {
      const label = `weights.layer.${firstLayer}`;
      const weights = take('weights', bytes.weights, label).buffer;
      const scales = take('scales', bytes.scales, label).buffer;
      arenas.push({ firstLayer, nLayers: end - firstLayer, weights, scales });
      take = takeFrom({ weights, scales });
    }
    matrices.push(...layers.slice(firstLayer, end).map((layer) => layer.map((matrix) => place(matrix, take))));
  }
  return { arenas, matrices };
}

/** Bytes of a layer in an arena: each of its parts takes whole multiples of the alignment. */
function layerBytes(layer: readonly PlannedMatrix[]): PlaneBytes {
  const total: PlaneBytes = { weights: 0, scales: 0 };
  for (const { parts, cols } of layer) {
    for (const { format, rows } of parts) {
      const { weights, scales } = planeBytes(format, rows, cols);
      total.weights += rangeStride(weights);
      total.scales += rangeStride(scales);
    }
  }
  return total;
}

const sum = (a: PlaneBytes, b: PlaneBytes): PlaneBytes => ({
  weights: a.weights + b.weights,
  scales: a.scales + b.scales,
});

/** Takes range after range of both buffers. */
function takeFrom(buffers: Pick<WeightArena, 'weights' | 'scales'>): Take {
  const end: PlaneBytes = { weights: 0, scales: 0 };
  return (plane, bytes) => {
    const offset = end[plane];
    end[plane] += rangeStride(bytes);
    return { buffer: buffers[plane], offset, size: storedBytes(bytes) };
  };
}

function place({ label, rows, cols, parts }: PlannedMatrix, take: Take): WeightMatrix {
  const placed = parts.map((part): WeightPart => {
    const { weights, scales } = planeBytes(part.format, part.rows, cols);
    const name = parts.length === 1 ? label : `${label}.rows_${part.row0}`;
    return { ...part, weights: take('weights', weights, name), scales: take('scales', scales, name) };
  });
  return { rows, cols, parts: placed };
}
