// The worker's code as text, inserted by the build (worker_plugin). Without a build it is empty, and no worker starts.

export const workerSource: string = '';
