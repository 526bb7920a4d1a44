// IEEE 754 half precision, for filling f16 caches and reading them back.

export { halfToNumber as fromHalf } from '../../src/cpu/dequantise';
export { toHalf } from '../../src/cpu/half';
