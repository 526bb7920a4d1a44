// The worker's code, inserted by the build (worker_plugin): as text in bundles of one file, as files beside the scripts
// of the page and of the tag, or as modules of the package. Without a build there is none, and no worker starts.

/** A file, its address and its hash for `fetch`. */
export interface WorkerFile {
  url: string;
  integrity: string;
  /** For a script tag: a classic script that hands over the worker with all parts. */
  script: string | null;
}

/** A module that a bundler puts where it wants. It exports code as text. */
type Text = () => Promise<{ default: string }>;

/** The parts for a first answer, and other parts by their names. */
export interface WorkerTexts {
  core: Text;
  parts: Record<string, Text>;
}

/** The code, or '' if files or modules have it. */
export const workerText: string = '';
/** The parts for a first answer. The others lie beside them, and `whole` has all in one. Null if there are no files. */
export const workerFile: (WorkerFile & { whole: WorkerFile }) | null = null;
/** Null if there are no modules. */
export const workerTexts: WorkerTexts | null = null;
