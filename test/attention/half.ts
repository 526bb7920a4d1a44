// IEEE 754 half precision, for filling f16 caches and reading them back.

export { halfToNumber as fromHalf } from '../../src/cpu/dequantize';
export { toHalf } from '../../src/cpu/half';
