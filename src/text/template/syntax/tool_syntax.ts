// How a template shows tools, calls and their results.

import type { Probe, ToolSyntax } from './chat_syntax';
import { ID } from './literal_match';
import { commonStart, TEXT, user, withoutCommonEnd } from './needles';
import { ValueScanner } from './value_scanner';

export interface ToolForm {
  /** Null if calls are not shown, or in a way that cannot be read back. */
  readonly calls: ToolSyntax | null;
  readonly showsCalls: boolean;
  readonly showsTools: boolean;
  readonly showsResults: boolean;
  readonly textArguments: boolean;
  readonly nullContent: boolean;
  readonly shortIds: boolean;
}

const NAME = 'xNAMEx';
const RESULT = 'xRESULTx';
const [KEY_1, VALUE_1, KEY_2, VALUE_2] = ['xKEYx', 'xVALUEx', 'yKEYy', 'yVALUEy'];
const SHORT_ID = 'abcdef123';
const LONG_ID = 'call_0123456789abcdef01234567';
const ARGUMENTS = { [KEY_1]: VALUE_1, [KEY_2]: VALUE_2 };
const text = { type: 'string', description: TEXT };
const parameters = { type: 'object', properties: { [KEY_1]: text, [KEY_2]: text }, required: [KEY_1] };
const tools = [{ type: 'function', function: { name: NAME, description: TEXT, parameters } }];

/** An assistant's message with calls, each the same. */
export function callMessage(
  count: number,
  { textArguments = false, nullContent = false, shortIds = true } = {},
): Record<string, unknown> {
  const call = {
    id: shortIds ? SHORT_ID : LONG_ID,
    type: 'function',
    function: { name: NAME, arguments: textArguments ? JSON.stringify(ARGUMENTS) : ARGUMENTS },
  };
  return { role: 'assistant', content: nullContent ? null : '', tool_calls: Array(count).fill(call) };
}

export function readTools(probe: Probe): ToolForm {
  const run = (...messages: unknown[]) => probe({ messages: [user, ...messages], tools });
  const render = (form: object) => {
    const shown = run(callMessage(1, form));
    return shown?.includes(NAME) && shown.lastIndexOf(VALUE_2) > shown.lastIndexOf(NAME) ? shown : null;
  };
  const result = { role: 'tool', content: RESULT, tool_call_id: SHORT_ID, name: NAME };
  const takesResult = (form: object) => run(callMessage(1, form), result)?.includes(RESULT) ?? false;
  const ofForm = (textArguments: boolean) => {
    const [empty, none] = [false, true].map((nullContent) => {
      const form = { textArguments, nullContent };
      return { form, shown: render(form), showsResults: takesResult(form) };
    });
    const isBetter =
      empty.shown === null ||
      (none.showsResults >= empty.showsResults && (none.shown ?? '').length <= empty.shown.length);
    return none.shown !== null && isBetter ? none : empty;
  };
  const mappings = ofForm(false);
  const { shown, form, showsResults } = mappings.shown === null ? ofForm(true) : mappings;
  const shortIds = shown !== null && render({ ...form, shortIds: false }) === null;
  const plain = run({ role: 'assistant', content: TEXT });
  return {
    ...form,
    shortIds,
    showsTools: probe({ messages: [user], tools })?.includes(NAME) ?? false,
    showsCalls: shown !== null,
    showsResults,
    calls: shown && plain ? readCalls(shown, run(callMessage(2, form)), plain) : null,
  };
}

/** `one`, `two`: the conversation with one and with two calls. `plain`: with a text instead. */
function readCalls(one: string, two: string | null, plain: string): ToolSyntax | null {
  const at = plain.lastIndexOf(TEXT);
  const { length } = commonStart(one, plain.slice(0, at));
  const body = one.slice(length).replaceAll(SHORT_ID, ID);
  const named = body.indexOf(NAME);
  const from = named + NAME.length;
  const begin = body.slice(0, named).trimStart();
  if (named < 0 || body.indexOf(NAME, from) > 0 || begin === '') return null; // a name alone announces no call
  const found = readArguments(body, from);
  if (!found) return null;
  const { start, end: stop, ...rest } = found;
  const both = two?.slice(length).replaceAll(SHORT_ID, ID);
  const again = both?.indexOf(NAME, stop) ?? -1;
  const between = again < 0 ? null : both!.slice(stop, again);
  const after = withoutCommonEnd(body.slice(stop), plain.slice(at + TEXT.length));
  const end = between === null ? after : commonStart(between, body.slice(stop));
  return {
    ...rest,
    begin,
    middle: body.slice(from, start),
    end,
    next: between?.slice(end.length) ?? null,
    last: after.slice(end.length),
  };
}

/** The place of the arguments behind the name, and their notation. */
function readArguments(
  body: string,
  from: number,
): ({ start: number; end: number } & Pick<ToolSyntax, 'kind' | 'quotes' | 'tags'>) | null {
  const json = new RegExp(`\\{\\s*"${KEY_1}":\\s*"${VALUE_1}",\\s*"${KEY_2}":\\s*"${VALUE_2}"\\s*\\}`).exec(body);
  if (json) {
    const end = json.index + json[0].length;
    return json.index < from ? null : { kind: 'json', start: json.index, end, quotes: ['"'], tags: null };
  }
  const [key, value, nextKey, lastValue] = [KEY_1, VALUE_1, KEY_2, VALUE_2].map((word) => body.indexOf(word, from));
  if (key < 0 || value < key || nextKey < value || lastValue < nextKey) return null;
  const before = body.slice(from, key);
  const beforeValue = body.slice(key + KEY_1.length, value);
  if (/[({]\s*$/.test(before)) {
    const quote = beforeValue.slice(1).trim();
    if (quote === '') return null;
    const quotes = quote.length === 1 ? ["'", '"'] : [quote];
    const start = from + before.trimEnd().length - 1;
    const scanner = new ValueScanner(quotes);
    return { kind: 'literal', start, end: start + scanner.read(body.slice(start)), quotes, tags: null };
  }
  const afterValue = body.slice(value + VALUE_1.length, nextKey);
  const last = lastValue + VALUE_2.length;
  const close = commonStart(afterValue, body.slice(last));
  const tag = afterValue.slice(close.length);
  if (afterValue.includes(KEY_1) || close.trim() === '' || !before.endsWith(tag)) return null;
  const tags = { key: tag, value: beforeValue, close };
  return { kind: 'tags', start: key - tag.length, end: last + close.length, quotes: [], tags };
}
