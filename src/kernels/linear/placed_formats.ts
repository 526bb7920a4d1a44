// The formats whose integers fit into a mantissa where they are (matvec_f32.ts).

/** Formats with a file weights/*_placed.wgsl. */
export type PlacedFormat = 'q4' | 'q8';

export const isPlaceable = (format: string): format is PlacedFormat => format === 'q4' || format === 'q8';
