// The worker: wires messages to the model, and nothing else. One worker holds one model: a load is its first call.

import { expose } from 'comlink';
import { InvalidRequestError } from '../errors';
import { toFailure } from './failure';
import { generate } from './generate';
import type { GenerateRequest, Warning, WorkerApi } from './protocol';
import { type LoadedModel, loadModel } from './session';

let model: LoadedModel | null = null;
const loading = new AbortController();
/** What the load has to say, until a first request hears it. */
let warnings: readonly Warning[] = [];
/** Requests that have not ended; unloading stops them. */
const requests = new Set<{ stopped: boolean }>();
/** Requests run one after another: there is one cache. */
let queue: Promise<void> = Promise.resolve();

async function answer({ input, options }: GenerateRequest, port: MessagePort, stopped: () => boolean): Promise<void> {
  try {
    if (!model) throw new InvalidRequestError('No model is loaded.');
    for (const warning of warnings) port.postMessage({ type: 'warning', ...warning });
    warnings = [];
    await generate(model.session, input, options, (event) => port.postMessage(event), stopped);
  } catch (error) {
    port.postMessage(toFailure(error));
  }
}

const api: WorkerApi = {
  ping: () => 'pong',

  async load(location, options, onProgress) {
    try {
      model = await loadModel(location, options, onProgress, loading.signal);
      warnings = model.info.warnings;
      return { info: model.info };
    } catch (error) {
      return toFailure(error);
    }
  },

  cancelLoad() {
    loading.abort(new DOMException('Loading was cancelled.', 'AbortError'));
  },

  generate(request, port) {
    const state = { stopped: false };
    requests.add(state);
    port.onmessage = () => {
      state.stopped = true;
    };
    queue = queue.then(() => answer(request, port, () => state.stopped)).finally(() => requests.delete(state));
  },

  async unload() {
    for (const request of requests) request.stopped = true;
    await queue;
    model?.session.backend.destroy();
    model = null;
  },
};

expose(api);
