// The losses of an engine in words. Pure.

const LOSSES: Readonly<Record<string, string>> = {
  'device-lost': 'The GPU was lost',
  'gpu-memory': 'The GPU’s memory ran out',
  'gpu-program': 'A program of the GPU failed',
  worker: 'The engine’s worker ended',
  'tab-gone': 'The tab that ran the model is gone',
};

/** A sentence without its end, such as 'The GPU was lost'. @param code the code of the loss */
export function lossOf(code: string): string {
  if (code.startsWith('server-')) return 'The server was lost';
  return Object.hasOwn(LOSSES, code) ? LOSSES[code] : 'The model was lost';
}
