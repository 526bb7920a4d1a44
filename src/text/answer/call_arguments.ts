// The arguments of a call as they come, turned into JSON text.

import type { JsonObject } from '../../shared/json_object';
import { asArray, asObject } from '../json';
import type { Tool } from '../template/message';
import type { ToolSyntax } from '../template/syntax/chat_syntax';
import { matchLiteral } from '../template/syntax/literal_match';
import { ValueScanner } from '../template/syntax/value_scanner';
import { isJson, toJson } from './call_values';

/** Longest key of an argument between tags. */
const MAX_KEY = 256;
/** Most spaces between tags. */
const MAX_SPACES = 64;

/** Reads arguments from pieces of text, until `end` says how they ended. */
export interface ArgumentsReader {
  /** Reads from the text and returns the number of units read; the others come again. Calls `emit` with JSON text. */
  read(text: string, emit: (json: string) => void): number;
  readonly end: 'none' | 'whole' | 'wrong';
}

export function createArgumentsReader(syntax: ToolSyntax, tool: Tool | null): ArgumentsReader {
  return syntax.kind === 'tags' ? new TagsReader(syntax, tool) : new ValueReader(syntax);
}

/** An object of JSON, passed on as it comes, or pairs in brackets, passed on when they are whole. */
class ValueReader implements ArgumentsReader {
  end: 'none' | 'whole' | 'wrong' = 'none';
  private readonly pieces: string[] = [];
  private readonly scanner: ValueScanner;

  constructor(private readonly syntax: ToolSyntax) {
    this.scanner = new ValueScanner(syntax.quotes);
  }

  read(text: string, emit: (json: string) => void): number {
    const { kind, quotes } = this.syntax;
    let from = 0;
    if (this.pieces.length === 0) {
      from = text.search(/\S/);
      if (from < 0) return text.length;
      if (!/[{([]/.test(text[from])) {
        this.end = 'wrong';
        return 0;
      }
    }
    const until = from + this.scanner.read(text.slice(from));
    const piece = text.slice(from, until);
    if (piece === '') return from;
    this.pieces.push(piece);
    if (kind === 'json') emit(piece);
    if (this.scanner.isDone) {
      const whole = this.pieces.join('');
      const json = kind === 'json' ? whole : toJson(whole, quotes, true);
      this.end = json?.startsWith('{') && isJson(json) ? 'whole' : 'wrong';
      if (json !== null && kind !== 'json') emit(json);
    }
    return until;
  }
}

/** Arguments between tags, each passed on when it is whole. */
class TagsReader implements ArgumentsReader {
  end: 'none' | 'whole' | 'wrong' = 'none';
  private key: string | null = null;
  private readonly pieces: string[] = []; // of the value that is not whole
  private count = 0;
  private readonly close: string;

  constructor(
    private readonly syntax: ToolSyntax,
    private readonly tool: Tool | null,
  ) {
    this.close = syntax.tags!.close.trim();
  }

  read(text: string, emit: (json: string) => void): number {
    let at = 0;
    for (let read = 1; read > 0 && this.end === 'none'; at += read) {
      read = this.key === null ? this.readKey(text.slice(at), emit) : this.readValue(text.slice(at), emit);
    }
    return at;
  }

  private readKey(text: string, emit: (json: string) => void): number {
    const tags = this.syntax.tags!;
    const from = matchLiteral(tags.key, text, 0);
    if (from === null) return 0;
    if (from < 0) {
      this.end = 'whole';
      emit(this.count === 0 ? '{}' : '}');
      return 0;
    }
    const stop = text.indexOf(tags.value.trimStart()[0], from);
    // Spaces behind the tag belong to the value.
    const value = stop < 0 ? null : matchLiteral(tags.value.trimEnd(), text, stop);
    if (value === null && text.length - from <= MAX_KEY) return 0;
    if (value === null || value < 0) {
      this.end = 'wrong';
      return 0;
    }
    this.key = text.slice(from, stop).trim();
    return value;
  }

  private readValue(text: string, emit: (json: string) => void): number {
    const stop = text.indexOf(this.close);
    const end = stop + this.close.length;
    const behind = stop < 0 ? -1 : text.slice(end, end + MAX_SPACES).search(/\S/);
    const isWhole = behind >= 0 ? text[end + behind] === this.close[0] : stop >= 0 && text.length - end >= MAX_SPACES;
    if (!isWhole) {
      // Before anything but another tag, the closing one belongs to the value.
      const until = behind >= 0 ? end : stop >= 0 ? stop : Math.max(0, text.length - this.close.length + 1);
      if (until > 0) this.pieces.push(text.slice(0, until));
      return until;
    }
    this.pieces.push(text.slice(0, stop));
    const { value, close } = this.syntax.tags!;
    let whole = this.pieces.join('');
    if (/\s$/.test(value) && whole.startsWith('\n')) whole = whole.slice(1);
    if (/^\s/.test(close) && whole.endsWith('\n')) whole = whole.slice(0, -1);
    whole = whole.replace(/^<!\[CDATA\[([\s\S]*)\]\]>$/, '$1');
    emit(`${this.count++ === 0 ? '{' : ', '}${JSON.stringify(this.key)}: ${this.jsonOf(whole)}`);
    this.key = null;
    this.pieces.length = 0;
    return end;
  }

  /**
   * The schema decides whether a value is text. Beside other kinds that it allows, a value of none of them is text.
   * Without a schema, any JSON value counts as that value.
   */
  private jsonOf(value: string): string {
    const schema = asObject(asObject(this.tool?.parameters?.properties)?.[this.key!]);
    if (schema?.type === 'string') return JSON.stringify(value);
    const json = isJson(value) ? value : toJson(value, ['"', "'"], false);
    return json !== null && mayBe(kindOf(JSON.parse(json)), kindsOf(schema)) ? json : JSON.stringify(value);
  }
}

/** False where text is allowed, and no value of this kind. */
function mayBe(kind: string, kinds: readonly unknown[]): boolean {
  return !kinds.includes('string') || kinds.includes(kind) || kinds.includes(undefined);
}

/** Most choices within one another. */
const MAX_CHOICES = 8;

/** The kinds of value that a schema names. Undefined stands for others. */
function kindsOf(schema: JsonObject | null, levels = MAX_CHOICES): unknown[] {
  if (schema?.type !== undefined) {
    return [schema.type].flat().map((kind) => (kind === 'integer' ? 'number' : kind));
  }
  const values = schema && 'const' in schema ? [schema.const] : asArray(schema?.enum);
  const choices = levels === 0 ? [] : asArray(schema?.anyOf ?? schema?.oneOf);
  const kinds = [...values.map(kindOf), ...choices.flatMap((choice) => kindsOf(asObject(choice), levels - 1))];
  return kinds.length > 0 ? kinds : [undefined];
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}
