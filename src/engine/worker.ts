// The worker: wires messages to the model, and nothing else.

import { expose } from 'comlink';
import { InvalidRequestError } from '../errors';
import { generate } from './generate';
import { type GenerateRequest, toFailure, type WorkerApi } from './protocol';
import { type LoadedModel, loadModel } from './session';

let model: LoadedModel | null = null;
let loading: AbortController | null = null;
/** Requests run one after another: there is one cache. */
let queue: Promise<void> = Promise.resolve();

async function answer({ input, options }: GenerateRequest, port: MessagePort, stopped: () => boolean): Promise<void> {
  try {
    if (!model) throw new InvalidRequestError('No model is loaded.');
    for (const warning of model.info.warnings) port.postMessage({ type: 'warning', ...warning });
    await generate(model.session, input, options, (event) => port.postMessage(event), stopped);
  } catch (error) {
    port.postMessage(toFailure(error));
  }
}

const api: WorkerApi = {
  ping: () => 'pong',

  async load(location, options, onProgress) {
    api.cancelLoad();
    await api.unload();
    const controller = new AbortController();
    loading = controller;
    try {
      model = await loadModel(location, options, onProgress, controller.signal);
      return { info: model.info };
    } catch (error) {
      return toFailure(error);
    } finally {
      if (loading === controller) loading = null;
    }
  },

  cancelLoad() {
    loading?.abort(new DOMException('Loading was cancelled.', 'AbortError'));
  },

  generate(request, port) {
    let stop = false;
    port.onmessage = () => {
      stop = true;
    };
    queue = queue.then(() => answer(request, port, () => stop));
  },

  async unload() {
    await queue;
    model?.session.backend.destroy();
    model = null;
  },
};

expose(api);
