// Texts to vectors: checks the request, runs each text through the model, and cuts and normalizes its vector.

import { normalize } from '../../cpu/embedding';
import { ContextOverflowError, InvalidRequestError, NotFiniteError } from '../../errors';
import { refuseUnknown } from '../../shared/known_names';
import { nextTask } from '../../shared/next_task';
import { BESIDE } from '../options';
import type { Embeddings, EmbedOptions } from '../protocol';
import { leaveConversation } from './prefix_cache/late_branches';
import { encodeInput } from './request/prompt';
import type { Session } from './request/session';
import { Pause } from './turns/pause';
import type { Turn } from './turns/turns';

const MOST_TEXTS = 2048;
/** Texts whose vectors may be on their way back. */
const IN_FLIGHT = 2;

/**
 * The vectors of the texts, in their order. Overwrites keys and values. Gives way between texts.
 * @throws InvalidRequestError, ContextOverflowError and TokenizerError before the first pass; NotFiniteError;
 *   DOMException AbortError soon after `stopped` turns true
 */
export async function embed(
  session: Session,
  texts: readonly string[],
  options: EmbedOptions,
  stopped: () => boolean,
  turn?: Turn,
): Promise<Embeddings> {
  refuseUnknown(options, BESIDE.embed);
  const { dimensions } = options;
  const { backend, pause = new Pause() } = session;
  const halted = () => pause.over(stopped);
  const { size, normalized } = backend.vectors;
  checkRequest(texts, dimensions, size);
  const inputs: Uint32Array<ArrayBuffer>[] = [];
  for (const [i, text] of texts.entries()) {
    if (stopped()) throw aborted();
    inputs.push(await textIds(session, text, i));
    await nextTask();
  }
  await leaveConversation(session);
  const vectors: Float32Array[] = [];
  const inFlight: Promise<Float32Array>[] = [];
  const land = async () => {
    const whole = await (inFlight.shift() as Promise<Float32Array>);
    if (!whole.every(Number.isFinite)) {
      await Promise.allSettled(inFlight);
      const ids = inputs[vectors.length];
      throw new NotFiniteError(ids.length - 1, await backend.findNotFinite?.(ids).catch(() => null));
    }
    const vector = whole.slice(0, dimensions); // Kusupati et al. 2022, arXiv:2205.13147
    vectors.push(normalized ? normalize(vector) : vector);
  };
  try {
    for (const ids of inputs) {
      if (inFlight.length === IN_FLIGHT) await land();
      const { vector } = (await halted()) ? { vector: null } : await backend.embed(ids, halted);
      if (!vector) throw aborted();
      vector.catch(ignore); // awaited when it lands
      inFlight.push(vector);
      if (!turn?.isOver) continue;
      while (inFlight.length > 0) await land();
      if (await turn.giveWay()) await leaveConversation(session);
    }
    while (inFlight.length > 0) await land();
  } finally {
    await Promise.allSettled(inFlight); // the next request reads into the same buffers
  }
  return { vectors, promptTokens: inputs.reduce((sum, { length }) => sum + length, 0) };
}

function checkRequest(texts: unknown, dimensions: unknown, size: number): void {
  if (!Array.isArray(texts) || texts.length === 0 || texts.length > MOST_TEXTS) {
    const given = Array.isArray(texts) ? `a list of ${texts.length}` : typeof texts;
    throw new InvalidRequestError(`embed() takes a list of 1 to ${MOST_TEXTS} texts, got ${given}.`, 'texts');
  }
  const bad = texts.findIndex((text) => typeof text !== 'string' || text === '');
  if (bad >= 0) {
    const given = texts[bad] === '' ? 'is empty' : `is of type ${typeof texts[bad]}`;
    throw new InvalidRequestError(`Text ${bad} ${given}. Each text needs at least one character.`, 'texts');
  }
  const isSize = typeof dimensions === 'number' && Number.isInteger(dimensions) && dimensions >= 1;
  if (dimensions === undefined || (isSize && dimensions <= size)) return;
  throw new InvalidRequestError(
    `dimensions must be a whole number from 1 to ${size}, the size of this model's vectors, got ${String(dimensions)}.`,
    'dimensions',
  );
}

async function textIds(session: Session, text: string, index: number): Promise<Uint32Array<ArrayBuffer>> {
  const { ids } = await encodeInput({ prompt: text }, undefined, session);
  const { contextLength } = session.backend;
  if (ids.length > contextLength) throw new ContextOverflowError(ids.length, contextLength, index);
  return ids;
}

function aborted(): DOMException {
  return new DOMException('Embedding was stopped.', 'AbortError');
}

function ignore(): void {}
