// Messages to the text that the model was trained on, and that text to ids such that nothing a person typed becomes a
// control token (authors.ts, provenance.ts). Templates are Jinja, run by @huggingface/jinja with the variables of
// transformers.

import { Environment, parse, tokenize } from '@huggingface/jinja';
import { ChatTemplateError } from '../../errors';
import { authorOf } from '../authors';
import type { Tokenizer } from '../tokenizer';
import type { ChatSyntax } from './chat_syntax';
import { FueledInterpreter, MAX_OUTPUT, type Trace, templateDeadline } from './fuel';
import type { ChatMessage, ChatRequest } from './message';
import { authorsOf, Disguise, Follower, Recorder } from './provenance';
import { strftime } from './strftime';

interface ChatPrompt {
  ids: Uint32Array;
  /**
   * The beginning of the answer that the prompt holds already: an opened thinking, a call that was asked for. The text
   * of a continued message is no part of it.
   */
  begun: string;
  /** The answer continues a text, so that its first space belongs to it. */
  goesOn: boolean;
}

export interface ChatTemplate {
  render(request: ChatRequest, options: { addGenerationPrompt: boolean }): string;
  /** The conversation up to the assistant's answer. */
  encode(request: ChatRequest, tokenizer: Tokenizer): ChatPrompt;
  /** How the template shows thinking and calls. Read off at the first use. */
  readonly syntax: ChatSyntax;
}

/** The tokens at the edges of a text. */
type Edges = Pick<Tokenizer, 'bosToken' | 'eosToken'>;

const MAX_SOURCE = 64_000; // those in use have up to 30,000; the parser takes 2 to 8 microseconds per character
const MAX_SPACES = 1_000;
const MAX_RANGE = 10_000;

/** Refuses a source that would take the parser too long. */
function checkSource(source: string): void {
  if (source.length > MAX_SOURCE) {
    throw new ChatTemplateError(
      `The chat template has ${source.length} characters; at most ${MAX_SOURCE} are allowed.`,
    );
  }
  // The library's tokenizer takes quadratic time for a run of spaces.
  const spaces = source.split(/\S+/).reduce((longest, run) => Math.max(longest, run.length), 0);
  if (spaces > MAX_SPACES) {
    throw new ChatTemplateError(
      `The chat template has ${spaces} spaces and line breaks in a row; at most ${MAX_SPACES} are allowed.`,
    );
  }
}

export function createChatTemplate(source: string, tokens: Edges): ChatTemplate {
  checkSource(source);
  // The options of transformers.
  const program = guard(() => parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true })), 'cannot be read');

  function run(
    messages: readonly ChatMessage[],
    addGenerationPrompt: boolean,
    deadline: number,
    trace?: Trace,
  ): string {
    return guard(() => {
      const scope = scopeOf(messages, addGenerationPrompt, tokens);
      const { value } = new FueledInterpreter(scope, deadline, trace).run(program);
      if (typeof value !== 'string' || value.length > MAX_OUTPUT) {
        throw new ChatTemplateError(`The chat template gave more than ${MAX_OUTPUT} characters.`);
      }
      return value;
    }, 'failed');
  }

  let knowsSystem: boolean | null = null;

  /** Renders within a deadline shared by all renderings of one call. */
  function render(
    messages: readonly ChatMessage[],
    addGenerationPrompt: boolean,
    deadline: number,
    trace?: Trace,
  ): string {
    if (messages.some((message) => message.role === 'system')) {
      knowsSystem ??= showsSystemMessage((probe) => run(probe, false, deadline));
      if (!knowsSystem) return run(systemIntoUser(messages), addGenerationPrompt, deadline, trace);
    }
    return run(messages, addGenerationPrompt, deadline, trace);
  }

  function idsOf(messages: readonly ChatMessage[], tokenizer: Tokenizer): Uint32Array {
    const forges = messages.some(({ role, content }) => tokenizer.couldForge(content, authorOf(role)));
    let deadline = templateDeadline(messages);
    if (!forges) {
      return tokenizer.encode(render(messages, true, deadline), { addSpecialTokens: false });
    }
    const first = new Recorder();
    const text = render(messages, true, deadline, first);
    const start = performance.now();
    const disguise = new Disguise(messages, tokenizer, [text, source]);
    deadline += performance.now() - start; // time that the template did not spend
    const disguised = render(disguise.messages, true, deadline, new Follower(first.values, disguise));
    return tokenizer.encodeAuthored(text, authorsOf(disguise, disguised, text));
  }

  return {
    render: ({ messages }, { addGenerationPrompt }) =>
      render(messages, addGenerationPrompt, templateDeadline(messages)),
    encode: ({ messages }, tokenizer) => ({ ids: idsOf(messages, tokenizer), begun: '', goesOn: false }),
    syntax: { thinking: null, tools: null },
  };
}

/** The variables of a template, as transformers names them. */
function scopeOf(messages: readonly ChatMessage[], addGenerationPrompt: boolean, tokens: Edges): Environment {
  const scope = new Environment();
  const names: Record<string, unknown> = {
    ...GLOBALS,
    messages: messages.map(({ role, content }) => ({ role, content })),
    add_generation_prompt: addGenerationPrompt,
    bos_token: tokens.bosToken ?? '',
    eos_token: tokens.eosToken ?? '',
    tools: null,
    documents: null,
  };
  for (const name of Object.keys(names)) scope.set(name, names[name]);
  return scope;
}

/** True if the template shows a system message. Some reject one, others silently omit it. */
function showsSystemMessage(run: (messages: readonly ChatMessage[]) => string): boolean {
  const needle = 'system needle';
  try {
    return run([
      { role: 'system', content: needle },
      { role: 'user', content: 'user' },
    ]).includes(needle);
  } catch {
    return false;
  }
}

/** Moves the system message to the start of the next user message, as llama.cpp does for templates without one. */
function systemIntoUser(messages: readonly ChatMessage[]): ChatMessage[] {
  const merged: ChatMessage[] = [];
  let system = '';
  for (const { role, content } of messages) {
    if (role === 'system') {
      system += system === '' ? content : `\n${content}`;
    } else if (role === 'user' && system !== '') {
      merged.push({ role, content: `${system}\n${content}` });
      system = '';
    } else {
      merged.push({ role, content });
    }
  }
  if (system !== '') merged.push({ role: 'user', content: system });
  return merged;
}

const GLOBALS: Record<string, unknown> = {
  true: true,
  false: false,
  none: null,
  True: true,
  False: false,
  None: null,
  raise_exception(message: unknown): never {
    throw new ChatTemplateError(typeof message === 'string' ? message : 'The chat template refused the conversation.');
  },
  range(...bounds: unknown[]): number[] {
    const [start, stop, step] = bounds.length === 1 ? [0, bounds[0], 1] : [bounds[0], bounds[1], bounds[2] ?? 1];
    if (![start, stop, step].every(Number.isInteger) || step === 0) {
      throw new ChatTemplateError('The chat template calls range() with something that is not a whole number.');
    }
    const length = Math.max(0, Math.ceil((Number(stop) - Number(start)) / Number(step)));
    if (length > MAX_RANGE) {
      throw new ChatTemplateError(`The chat template counts to ${length}; at most ${MAX_RANGE} is allowed.`);
    }
    return Array.from({ length }, (_, i) => Number(start) + i * Number(step));
  },
  strftime_now: (format: unknown) => strftime(new Date(), String(format)),
};

/** Turns every failure into a ChatTemplateError with the message of the template or the interpreter. */
function guard<T>(run: () => T, what: string): T {
  try {
    return run();
  } catch (cause) {
    if (cause instanceof ChatTemplateError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ChatTemplateError(`The chat template ${what}: ${reason}`, { cause });
  }
}
