// A session of the Prompt API: a conversation with its context window, whose prompts are answered one after another.
// It keeps messages; keys and values are the engine's, which reuses those of a prompt's unchanged beginning.

import type { EngineTokenizeOptions } from '../../engine/engine';
import type { ChatMessage, GenerateOptions } from '../../engine/protocol';
import { type Answer, readAnswer } from './answer';
import { asDomException, orAborted, quotaExceeded } from './errors';
import { dictionary, inTurns, isBlank, type PromptInput, readPrompt } from './input';
import { constrained, optionsOf, readConstraint, type SessionOptions, samplingOf } from './options';
import { callForPage, execute } from './tools';
import type {
  LanguageModelAppendOptions,
  LanguageModelMessageContent,
  LanguageModelPrompt,
  LanguageModelPromptOptions,
  LanguageModelSession,
  PromptEngine,
} from './types';

/** Most answers with calls to one prompt. The answer after them gets no tools. */
const MAX_ROUNDS = 10;
/** Room for an answer, in tokens, for which older messages are dropped. A smaller context leaves an eighth. */
const ANSWER_ROOM = 1024;

/** What remains of the history beside added messages, and the tokens of both. */
interface Fit {
  left: readonly ChatMessage[];
  tokens: number;
}

type Part = string | LanguageModelMessageContent;
type Parts = string | LanguageModelMessageContent[];

/** The state of a session. Pages cannot make one, so that only the API creates sessions. */
export class SessionState {
  history: ChatMessage[] = [];
  /** Messages at the beginning of the history that are never dropped. */
  kept = 0;
  contextUsage = 0;

  constructor(
    readonly engine: PromptEngine,
    readonly options: SessionOptions,
  ) {}

  copy(): SessionState {
    const { history, kept, contextUsage } = this;
    return Object.assign(new SessionState(this.engine, this.options), { history: [...history], kept, contextUsage });
  }
}

export class Session extends EventTarget implements LanguageModelSession<Parts> {
  oncontextoverflow: LanguageModelSession['oncontextoverflow'] = null;
  onquotaoverflow: LanguageModelSession['onquotaoverflow'] = null;
  readonly #state: SessionState;
  readonly #end = new AbortController();
  /** Ends with the session. */
  readonly #life: AbortSignal;
  /** Ends with the newest call. */
  #queue: Promise<unknown> = Promise.resolve();

  /** @param signal ends the session. It may outlive many: it holds none of them */
  constructor(state: SessionState, signal = new AbortController().signal) {
    super();
    if (!(state instanceof SessionState)) throw new TypeError('Illegal constructor. Use LanguageModel.create().');
    this.#state = state;
    this.#life = AbortSignal.any([signal, this.#end.signal]);
    this.addEventListener('contextoverflow', (event) => this.oncontextoverflow?.(event));
    this.addEventListener('quotaoverflow', (event) => this.onquotaoverflow?.(event));
  }

  get contextUsage(): number {
    return this.#state.contextUsage;
  }

  get contextWindow(): number {
    return this.#state.engine.info.contextLength;
  }

  get inputUsage(): number {
    return this.contextUsage;
  }

  get inputQuota(): number {
    return this.contextWindow;
  }

  get topK(): number {
    return this.#state.options.topK;
  }

  get temperature(): number {
    return this.#state.options.temperature;
  }

  get samplingMode() {
    return this.#state.options.samplingMode;
  }

  async prompt(input: LanguageModelPrompt, given?: LanguageModelPromptOptions | null): Promise<Parts> {
    const options = dictionary(given);
    const parts: Part[] = [];
    await this.#inTurn(
      options.signal,
      this.#asking(input, options, (part) => parts.push(part)),
    );
    const text = parts.filter((part) => typeof part === 'string').join('');
    const calls = parts.filter((part) => typeof part !== 'string');
    if (calls.length === 0) return text;
    return text === '' ? calls : [{ type: 'text', value: text }, ...calls];
  }

  promptStreaming(input: LanguageModelPrompt, given?: LanguageModelPromptOptions | null): ReadableStream<Part> {
    const options = dictionary(given);
    const canceled = new AbortController();
    const signal = this.#within(options.signal ? AbortSignal.any([canceled.signal, options.signal]) : canceled.signal);
    signal.throwIfAborted();
    return new ReadableStream<Part>({
      start: (stream) => {
        const emit = (part: Part) => {
          if (!signal.aborted) stream.enqueue(part);
        };
        const ask = async () => this.#inTurn(signal, this.#asking(input, options, emit));
        ask().then(
          () => canceled.signal.aborted || stream.close(),
          (error) => canceled.signal.aborted || stream.error(error),
        );
      },
      cancel: (reason) => canceled.abort(reason),
    });
  }

  async append(input: LanguageModelPrompt, options?: LanguageModelAppendOptions | null): Promise<undefined> {
    const { signal } = dictionary(options);
    const { messages } = readPrompt(input, this.#state.options.inputs);
    await this.#inTurn(signal, async (within) => {
      this.#checkSystem(messages);
      const said = messages.filter((message) => !isBlank(message));
      const fit = await this.#fit(said, {}, 1);
      within.throwIfAborted();
      this.#keep(said, fit);
    });
  }

  async measureContextUsage(input: LanguageModelPrompt, given?: LanguageModelPromptOptions | null): Promise<number> {
    const options = dictionary(given);
    readConstraint(options); // for its errors
    const { messages } = readPrompt(input, this.#state.options.inputs, true);
    const signal = this.#within(options.signal);
    signal.throwIfAborted();
    return orAborted(guarded(this.#count(messages, {})), signal);
  }

  measureInputUsage(input: LanguageModelPrompt, options?: LanguageModelPromptOptions | null): Promise<number> {
    return this.measureContextUsage(input, options);
  }

  async clone(options?: LanguageModelAppendOptions | null): Promise<this> {
    const { signal } = dictionary(options);
    const Class = this.constructor as new (state: SessionState) => this;
    return this.#inTurn(signal, async () => new Class(this.#state.copy()));
  }

  destroy(): undefined {
    this.#end.abort(new DOMException('The session has been destroyed.', 'InvalidStateError'));
  }

  /** Takes the messages that the session begins with and never drops. */
  protected async begin(initial: readonly ChatMessage[]): Promise<void> {
    const said = initial.filter((message) => !isBlank(message));
    this.#keep(said, await guarded(this.#fit(said, {}, 1)));
    this.#state.kept = said.length;
  }

  #within(signal?: AbortSignal): AbortSignal {
    return signal ? AbortSignal.any([this.#life, signal]) : this.#life;
  }

  /** Works after all earlier calls. Aborted work ends at once for the caller, and is skipped if it has not begun. */
  async #inTurn<T>(given: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const signal = this.#within(given);
    signal.throwIfAborted();
    const turn = this.#queue.then(() => {
      signal.throwIfAborted();
      return work(signal);
    });
    this.#queue = turn.catch(() => {});
    return orAborted(guarded(turn), signal);
  }

  #asking(input: LanguageModelPrompt, options: LanguageModelPromptOptions, emit: (part: Part) => void) {
    const constraint = readConstraint(options);
    const asked = readPrompt(input, this.#state.options.inputs, true);
    const given = optionsOf(this.#state.options, options, this.#state.engine);
    return (signal: AbortSignal) => this.#answer({ ...asked, constraint }, given, emit, signal);
  }

  /** Answers a prompt, with the results of the tools that the model calls, and keeps all of it once it is complete. */
  async #answer(
    { messages, prefix, constraint }: PromptInput & Pick<GenerateOptions, 'constraint'>,
    options: SessionOptions,
    emit: (part: Part) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { engine } = this.#state;
    const sampling = samplingOf(options, engine);
    this.#checkSystem(messages);
    const isBegun = prefix && !isBlank(messages[messages.length - 1]);
    const pending = prefix && !isBegun ? messages.slice(0, -1) : [...messages];
    const room = Math.min(ANSWER_ROOM, Math.floor(this.contextWindow / 8));
    for (let round = 0; ; round++) {
      const continueLast = isBegun && round === 0 ? true : undefined;
      const settings: EngineTokenizeOptions = {
        ...this.#tools(),
        thinking: sampling.thinking,
        ...(round === MAX_ROUNDS && { toolChoice: 'none' }),
        continueLast,
      };
      const { left } = await this.#fit(pending, settings, room);
      signal.throwIfAborted();
      const conversation = inTurns([...left, ...pending]);
      const events = engine.chat(conversation, {
        ...sampling,
        ...settings,
        ...constrained(constraint, engine),
        signal,
      });
      const answer = await readAnswer(events, emit);
      signal.throwIfAborted();
      if (constraint && answer.isCut) throw new DOMException('The context has no room for the answer.', 'SyntaxError');
      const begun = continueLast ? pending.pop()?.content : '';
      pending.push({ ...answer.message, content: begun + answer.message.content });
      const results = round < MAX_ROUNDS ? await this.#results(answer, emit, signal) : [];
      if (results.length === 0) return this.#keep(pending, { left, tokens: answer.tokens });
      pending.push(...results);
    }
  }

  /** The messages for the model after its calls. None if it called nothing, or if the page executes the calls. */
  async #results(
    { calls, errors, isCut }: Answer,
    emit: (part: Part) => void,
    signal: AbortSignal,
  ): Promise<ChatMessage[]> {
    const { tools } = this.#state.options;
    const found = calls.map((call) => tools.find(({ name }) => name === call.name));
    if (tools.some((tool) => !tool.execute) && (calls.length === 0 || found.some((tool) => !tool?.execute))) {
      for (const call of calls) emit({ type: 'tool-call', value: callForPage(call) });
      return [];
    }
    const texts = calls.map(async (call, i) => {
      const tool = found[i];
      return tool ? execute(tool, call) : `Error: there is no tool ${call.name}.`;
    });
    const results = await orAborted(Promise.all(texts), signal);
    return [
      ...results.map((content, i): ChatMessage => ({ role: 'tool', content, toolCallId: calls[i].id })),
      // A call without an end is no fault of the model where the context ends.
      ...(isCut ? [] : errors).map((error): ChatMessage => ({ role: 'user', content: `Error: ${error}` })),
    ];
  }

  #tools(): EngineTokenizeOptions {
    return { tools: this.#state.options.definitions };
  }

  #checkSystem([first]: readonly ChatMessage[]): void {
    if (first?.role === 'system' && this.#state.history.length > 0) {
      throw new TypeError('The system prompt must be the first message of the session.');
    }
  }

  /** Adds the messages of a complete call, in the place of the oldest ones that had no room beside them. */
  #keep(messages: readonly ChatMessage[], { left, tokens }: Fit): void {
    const state = this.#state;
    const isFull = left.length < state.history.length;
    if (state.history.length === 0 && messages[0]?.role === 'system') state.kept = 1;
    state.history = [...left, ...messages];
    state.contextUsage = tokens;
    if (isFull) for (const type of ['contextoverflow', 'quotaoverflow']) this.dispatchEvent(new Event(type));
  }

  /**
   * Finds the oldest exchanges without which the history, the added messages and an answer have room. If the room
   * cannot be made, one token is enough.
   * @throws DOMException QuotaExceededError if even that does not fit
   */
  async #fit(added: readonly ChatMessage[], settings: EngineTokenizeOptions, room: number): Promise<Fit> {
    const { history, kept } = this.#state;
    const withTools = { ...this.#tools(), ...settings };
    const countFrom = (from: number) =>
      this.#count([...history.slice(0, kept), ...history.slice(from), ...added], withTools);
    const all = await countFrom(kept);
    if (all + room <= this.contextWindow) return { left: history, tokens: all };
    const isBegin = (i: number) => history[i].role === 'user' && history[i - 1]?.role !== 'user';
    const cuts = history.map((_, i) => i).filter((i) => i > kept && isBegin(i));
    if (history.length > kept) cuts.push(history.length);
    const least = cuts.length > 0 ? await countFrom(history.length) : all;
    if (least >= this.contextWindow) throw quotaExceeded(least, this.contextWindow);
    const most = this.contextWindow - (least + room <= this.contextWindow ? room : 1);
    if (all <= most) return { left: history, tokens: all };
    let [tooEarly, cut, tokens] = [-1, cuts.length - 1, least];
    while (cut - tooEarly > 1) {
      const middle = (tooEarly + cut) >> 1;
      const count = await countFrom(cuts[middle]);
      if (count <= most) [cut, tokens] = [middle, count];
      else tooEarly = middle;
    }
    return { left: [...history.slice(0, kept), ...history.slice(cuts[cut])], tokens };
  }

  /** The tokens of messages. Some templates refuse a conversation without a question: then one is added. */
  async #count(messages: readonly ChatMessage[], given: EngineTokenizeOptions): Promise<number> {
    const { engine, options } = this.#state;
    const settings = { thinking: samplingOf(options, engine).thinking, ...given };
    const said = inTurns(messages).filter((message) => !isBlank(message));
    const question: ChatMessage = { role: 'user', content: '?' };
    if (said.length === 0) return settings.tools ? engine.countTokens([question], settings) : 0;
    try {
      return await engine.countTokens(said, settings);
    } catch (error) {
      if (said.some(({ role }) => role === 'user') || (error as { code?: unknown }).code !== 'chat-template')
        throw error;
      return engine.countTokens([...said, question], { ...settings, continueLast: undefined });
    }
  }
}

/** A promise whose errors are those of the Prompt API. */
function guarded<T>(promise: Promise<T>): Promise<T> {
  return promise.catch((error) => {
    throw asDomException(error);
  });
}
