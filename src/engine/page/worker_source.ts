// The worker's code, inserted by the build (worker_plugin): as text in bundles of one file, or as files beside the
// page's scripts. Without a build there is neither, and no worker starts.

/** A file, its address and its hash for `fetch`. */
export interface WorkerFile {
  url: string;
  integrity: string;
}

/** The code, or '' if a file has it. */
export const workerText: string = '';
/** What a first answer needs. Its other parts lie beside it, and `whole` has all in one. Null if there is a text. */
export const workerFile: (WorkerFile & { whole: WorkerFile }) | null = null;
