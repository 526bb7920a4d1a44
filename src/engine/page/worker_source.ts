// The worker's code, inserted by the build (worker_plugin): as text in bundles of one file, or as a file beside the
// page's scripts. Without a build there is neither, and no worker starts.

/** The code, or '' if a file has it. */
export const workerText: string = '';
/** The file, its address and its hash for `fetch`, or null. */
export const workerFile: { url: string; integrity: string } | null = null;
