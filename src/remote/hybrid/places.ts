// Where a request of HybridEngine runs: the rules, and what each needs to know.

import type { EngineChatOptions, EngineGenerateOptions, EngineTokenizeOptions } from '../../engine/engine';
import type { Health } from '../../engine/health';
import type { ChatMessage, EngineInfo, Place, RunMetrics } from '../../engine/protocol';
import { InvalidRequestError, type VivaceError } from '../../errors';
import type { Answers } from '../stoppable';

/** The members of an engine that HybridEngine uses: `Engine` and `RemoteEngine` have them. */
export interface AnswerEngine {
  readonly info: EngineInfo;
  readonly metrics: RunMetrics | null;
  chat(messages: readonly ChatMessage[], options?: EngineChatOptions): Answers;
  complete(prompt: string | readonly number[], options?: EngineGenerateOptions): Answers;
  unload(): Promise<void>;
}

export interface LocalEngine extends AnswerEngine {
  /** The reason why the engine answers no more, or null. */
  readonly lost?: VivaceError | null;
  readonly health?: Health;
  onHealth?(listener: (health: Health) => void): () => void;
  countTokens(input: string | readonly ChatMessage[], options?: EngineTokenizeOptions): Promise<number>;
}

/** A request, as a rule sees it. */
export interface PlacedRequest {
  /** A conversation, a text or ids: one of the three. */
  readonly messages?: readonly ChatMessage[];
  readonly prompt?: string | readonly number[];
  readonly options: EngineChatOptions;
  /** The local model answers now. */
  readonly isLoaded: boolean;
}

/**
 * - `local`, `remote`: always there, and nowhere else when it fails.
 * - `remote-until-loaded`: local as soon as the local model answers.
 * - `longerThan`: remote where the prompt has more tokens of the local model than this.
 * - a function: what it says.
 */
export type Rule =
  | Place
  | 'remote-until-loaded'
  | { readonly longerThan: number }
  | ((request: PlacedRequest) => Place | Promise<Place>);

/** @throws InvalidRequestError for a rule that is none */
export function checkRule(rule: unknown): asserts rule is Rule {
  if (rule === 'local' || rule === 'remote' || rule === 'remote-until-loaded' || typeof rule === 'function') return;
  const { longerThan } = (rule ?? {}) as { longerThan?: unknown };
  if (typeof longerThan === 'number' && Number.isInteger(longerThan) && longerThan >= 0) return;
  throw new InvalidRequestError(
    'rule: say "local", "remote", "remote-until-loaded", { longerThan: a whole number of tokens } or a function.',
    'rule',
  );
}

/** True where a failure may move an answer to the other place. */
export const mayMove = (rule: Rule): boolean => rule !== 'local' && rule !== 'remote';

/**
 * @param local waits for the local model; null where there is none
 * @throws InvalidRequestError for a function's answer that is no place; whatever the function throws
 */
export async function placeOf(
  rule: Rule,
  request: PlacedRequest,
  local: () => Promise<LocalEngine | null>,
): Promise<Place> {
  if (rule === 'local' || rule === 'remote') return rule;
  if (rule === 'remote-until-loaded') return request.isLoaded ? 'local' : 'remote';
  if (typeof rule === 'function') return checkedPlace(await rule(request));
  const engine = await local();
  return engine && (await promptTokens(request, engine)) <= rule.longerThan ? 'local' : 'remote';
}

async function promptTokens({ messages, prompt, options }: PlacedRequest, local: LocalEngine): Promise<number> {
  const { tools, toolChoice, templateArguments, continueLast, thinking } = options;
  const settings = { tools, toolChoice, templateArguments, continueLast, thinking };
  if (messages) return local.countTokens(messages, settings);
  return typeof prompt === 'string' ? local.countTokens(prompt) : (prompt?.length ?? 0);
}

function checkedPlace(place: unknown): Place {
  if (place === 'local' || place === 'remote') return place;
  throw new InvalidRequestError('rule: the function says neither "local" nor "remote".', 'rule');
}
