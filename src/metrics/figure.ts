export interface Figure {
  /** Stable name, for tests and for the markup. */
  key: string;
  label: string;
  value: string;
  /** What the figure means and how it was measured. */
  definition: string;
}

export interface FigureGroup {
  title: string;
  figures: Figure[];
  /** A sentence under the figures. */
  note?: string;
}
