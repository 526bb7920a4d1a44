// The worker's code as text. Vite puts it here (tools/lib/worker_plugin.mjs); without Vite there is no worker to start.

export const workerSource: string = '';
