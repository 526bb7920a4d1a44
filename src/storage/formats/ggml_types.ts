// The tensor types of GGUF files.

import type { TensorDtype } from './tensor';

/** Supported ggml type numbers. Source: ggml/include/ggml.h, enum ggml_type. */
export const SUPPORTED_GGML_TYPES: ReadonlyMap<number, TensorDtype> = new Map<number, TensorDtype>([
  [0, 'F32'],
  [1, 'F16'],
  [2, 'Q4_0'],
  [3, 'Q4_1'],
  [6, 'Q5_0'],
  [7, 'Q5_1'],
  [8, 'Q8_0'],
  [10, 'Q2_K'],
  [11, 'Q3_K'],
  [12, 'Q4_K'],
  [13, 'Q5_K'],
  [14, 'Q6_K'],
  [20, 'IQ4_NL'],
  [30, 'BF16'],
]);

/** Names of unsupported types for error messages. Numbers 4, 5, 31 to 33 and 36 to 38 were withdrawn. */
const OTHER_GGML_TYPES: ReadonlyMap<number, string> = new Map([
  [9, 'Q8_1'],
  [15, 'Q8_K'],
  [16, 'IQ2_XXS'],
  [17, 'IQ2_XS'],
  [18, 'IQ3_XXS'],
  [19, 'IQ1_S'],
  [21, 'IQ3_S'],
  [22, 'IQ2_S'],
  [23, 'IQ4_XS'],
  [24, 'I8'],
  [25, 'I16'],
  [26, 'I32'],
  [27, 'I64'],
  [28, 'F64'],
  [29, 'IQ1_M'],
  [34, 'TQ1_0'],
  [35, 'TQ2_0'],
  [39, 'MXFP4'],
  [40, 'NVFP4'],
  [41, 'Q1_0'],
  [42, 'Q2_0'],
]);

export function ggmlTypeName(type: number): string {
  return SUPPORTED_GGML_TYPES.get(type) ?? OTHER_GGML_TYPES.get(type) ?? `an unknown ggml type (${type})`;
}
