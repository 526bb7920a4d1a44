// What a server tells of its models (GET /models): the model that answers, the kind of server, and its limits.

import type { EngineInfo, Warning } from '../../engine/protocol';
import type { JsonObject } from '../../shared/json_object';
import { isInTheClear, type RemoteOptions, type ServerKind } from '../options';
import { RemoteError } from '../remote_error';
import { countIn, malformed, numberIn, objectIn, objectsIn, textIn } from './bounded_json';
import type { Server } from './server';

/** Most models that are looked through. */
const MAX_MODELS = 10_000;
const MAX_NAME = 1000;
/** Names of models in a message. */
const MAX_NAMED = 8;

export interface ModelCard {
  kind: ServerKind;
  info: EngineInfo;
  /** The names of all models. */
  models: string[];
}

/** @param openMs the time that the list took */
export function readCard(list: JsonObject, server: Server, options: RemoteOptions, openMs: number): ModelCard {
  const cards = objectsIn(list, 'data', MAX_MODELS).filter((card) => nameOf(card) !== '');
  if (cards.length === 0) throw malformed('lists no models');
  const card = options.model === undefined ? cards[0] : cards.find((card) => nameOf(card) === options.model);
  if (!card) {
    const models = cards.map(nameOf);
    const names = models.slice(0, MAX_NAMED).join(', ');
    throw new RemoteError('server-model', `The server has no such model. It has ${names.slice(0, 500)}.`, { models });
  }
  const kind = options.kind ?? kindOf(card);
  return { kind, info: infoOf(card, kind, server, options, openMs), models: cards.map(nameOf) };
}

const nameOf = (card: JsonObject) => textIn(card, 'id').slice(0, MAX_NAME);

const OWNERS: Readonly<Record<string, ServerKind>> = {
  vllm: 'vllm',
  sglang: 'sglang',
  llamacpp: 'llama.cpp',
  vivace: 'vivace',
};

/** The card of Ray Serve, which puts vLLM behind cards of its own. */
const RAY_CONTEXT = 'max_request_context_length';

function kindOf(card: JsonObject): ServerKind {
  const owner = textIn(card, 'owned_by');
  if (Object.hasOwn(OWNERS, owner)) return OWNERS[owner];
  if (countIn(card, 'max_model_len') !== null || RAY_CONTEXT in objectIn(card, 'metadata')) return 'vllm';
  return countIn(objectIn(card, 'meta'), 'n_ctx_train') === null ? 'openai' : 'llama.cpp';
}

const REASON = 'The server computes in its own way.';

/** Numbers that the server does not tell are 0. */
function infoOf(
  card: JsonObject,
  kind: ServerKind,
  server: Server,
  options: RemoteOptions,
  openMs: number,
): EngineInfo {
  const meta = objectIn(card, 'meta');
  const { tools = true, thinking = kind === 'openai' ? 'none' : 'optional' } = options;
  return {
    model: {
      name: nameOf(card),
      architecture: kind,
      parameters: numberIn(meta, 'n_params', 1e15) ?? 0,
      nLayers: 0,
      hiddenSize: countIn(meta, 'n_embd') ?? 0,
      nHeads: 0,
      nKvHeads: 0,
      headDim: 0,
      vocabSize: countIn(meta, 'n_vocab') ?? 0,
      format: 'unknown',
      fileBytes: numberIn(meta, 'size', 1e15) ?? 0,
    },
    backend: 'remote',
    adapter: new URL(server.address).host,
    contextLength: options.contextLength ?? contextOf(card) ?? 0,
    kvCache: 'f16',
    activations: 'f32',
    attention: { prefill: 'textbook', decode: 'textbook', reason: REASON },
    askedAttention: 'auto',
    step: { name: 'plain', reason: REASON, gain: null, giveUps: 0 },
    hasChatTemplate: true,
    tools,
    thinking,
    embeddings: { pooling: 'last', size: 0, only: false },
    gpuBytes: null,
    bytesPerToken: null,
    loadMs: { open: openMs, weights: 0, compile: 0 },
    warnings: server.hasKey && isInTheClear(server.address) ? [IN_THE_CLEAR] : [],
  };
}

function contextOf(card: JsonObject): number | null {
  const ofLlama = countIn(objectIn(card, 'meta'), 'n_ctx');
  return countIn(card, 'max_model_len') ?? ofLlama ?? countIn(objectIn(card, 'metadata'), RAY_CONTEXT);
}

const IN_THE_CLEAR: Warning = {
  code: 'server-clear',
  message: 'The key and the conversation travel unencrypted to this server. Use an https: address.',
};
