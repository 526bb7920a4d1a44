export interface Figure {
  /** Stable name, for tests and for the markup. */
  key: string;
  label: string;
  value: string;
  /** What the figure means and how it was measured. */
  definition: string;
  /** Measured too few times to be relied on: shown faint. `definition` and a sentence beside the figures say so in words. */
  isFaint?: boolean;
}

export interface FigureGroup {
  title: string;
  figures: Figure[];
  /** A sentence under the figures. */
  note?: string;
}
