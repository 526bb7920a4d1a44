// Finds the author of each character of a rendered conversation by running the template twice. The first run sees the
// messages as they are, and its text is the prompt. In the second run, characters that could forge a token are
// disguised: replaced by unused characters that identify the author, wherever the template puts them. A template that
// inspects a disguised text would see another text, so the second run follows the first step by step. If a step gives
// another value (the outcome of `'</think>' in content`, the pieces of a split), the second run continues with the
// first run's value, and texts in it count as written by the least trusted author among the step's operands.

import { ChatTemplateError } from '../../errors';
import { type Author, type Authors, MODEL, PERSON, TEMPLATE } from '../authors';
import type { Tokenizer } from '../tokenizer';
import type { Budget, Trace } from './jinja/fuel';
import { alike, type Value } from './jinja/jinja_values';
import type { Program } from './jinja/program';
import type { Mark } from './variables';

interface Rendering {
  variables: Record<string, unknown>;
  /** The variables with each text of the request replaced. */
  marked(mark: Mark): Record<string, unknown>;
  /** What the template may show of its own and of the request. */
  texts: readonly string[];
  budget: Budget;
}

/**
 * The rendered conversation with the author of each unit.
 * @throws ChatTemplateError where the template cannot be followed
 */
export function runTwice(
  run: Program,
  { variables, marked, texts, budget }: Rendering,
  tokenizer: Tokenizer,
): { text: string; authors: Authors } {
  const first = new Recorder();
  budget.fuel = budget.most;
  const text = run(variables, budget, first);
  const disguise = new Disguise([text, ...texts], tokenizer);
  const disguised = marked((plain, author) => disguise.apply(plain, author));
  budget.fuel = budget.most;
  const shown = run(disguised, budget, new Follower(first.values, disguise));
  if (!disguise.matches(shown, text)) throw lost();
  return { text, authors: disguise.authorsOf(shown) };
}

/** Records the value of each step. */
class Recorder implements Trace {
  readonly values: Value[] = [];

  enter(): number {
    return 0;
  }

  leave(_: number, value: Value): Value {
    this.values.push(value);
    return value;
  }
}

const UNITS = 1 << 16;
/** Private-use characters, which serve as disguises. */
const FIRST = 0xe000;
const LAST = 0xf8ff;
const CHUNK = 8192; // arguments per call

/** Replaces characters by others that identify their author. Lengths and spaces stay. */
class Disguise {
  // By UTF-16 unit; 0 stands for the unit itself.
  private readonly plain = new Uint16Array(UNITS);
  private readonly authors = new Uint8Array(UNITS);
  private readonly disguised: Record<typeof MODEL | typeof PERSON, Uint16Array>;

  /** `texts`: all that the template may show. */
  constructor(texts: readonly string[], tokenizer: Tokenizer) {
    const whole = texts.join('\n');
    const used = new Set(whole.match(/[\ue000-\uf8ff]/g)?.map((char) => char.charCodeAt(0)));
    let next = FIRST;
    const disguisesOf = (author: Author) => {
      const units = new Uint16Array(UNITS);
      for (const unit of tokenizer.forgeableUnits(whole, author)) {
        while (used.has(next)) next++;
        if (next > LAST) {
          throw new ChatTemplateError(
            `A message holds the text of a control token, and there are not enough unused characters to mark it. Remove some of the ${used.size} private-use characters from the messages.`,
          );
        }
        this.plain[next] = unit;
        this.authors[next] = author;
        units[unit] = next++;
      }
      return units;
    };
    this.disguised = { [MODEL]: disguisesOf(MODEL), [PERSON]: disguisesOf(PERSON) };
  }

  apply(text: string, author: Author): string {
    if (author === TEMPLATE) return text;
    const disguised = this.disguised[author];
    const units = new Uint16Array(CHUNK);
    let out = '';
    for (let from = 0; from < text.length; from += CHUNK) {
      const count = Math.min(CHUNK, text.length - from);
      for (let i = 0; i < count; i++) {
        const shown = text.charCodeAt(from + i);
        const unit = this.plain[shown] || shown;
        units[i] = disguised[unit] || unit;
      }
      out += String.fromCharCode(...units.subarray(0, count));
    }
    return out;
  }

  matches(disguised: string, plain: string): boolean {
    if (disguised === plain) return true;
    if (disguised.length !== plain.length) return false;
    const table = this.plain;
    for (let i = 0; i < plain.length; i++) {
      const unit = disguised.charCodeAt(i);
      if ((table[unit] || unit) !== plain.charCodeAt(i)) return false;
    }
    return true;
  }

  /** The author of each unit. Undisguised units between two stretches of one author count as that author's. */
  authorsOf(disguised: string): Authors {
    const authors = new Uint8Array(disguised.length);
    let known = -1; // the last unit with an author
    for (let i = 0; i < authors.length; i++) {
      authors[i] = this.authors[disguised.charCodeAt(i)];
      if (authors[i] === TEMPLATE) continue;
      if (known >= 0 && authors[known] === authors[i] && this.isNeutral(disguised, known + 1, i)) {
        authors.fill(authors[i], known + 1, i);
      }
      known = i;
    }
    return authors;
  }

  /** The least trusted author of a text, or of the texts in a value. */
  leastTrusted(value: Value, seen = new Set<unknown>()): Author {
    let least: Author = TEMPLATE;
    if (value.type === 'StringValue') {
      const text = value.value as string;
      for (let i = 0; i < text.length && least < PERSON; i++) {
        const author = this.authors[text.charCodeAt(i)] as Author;
        if (author > least) least = author;
      }
    } else if ((Array.isArray(value.value) || value.value instanceof Map) && !seen.has(value)) {
      seen.add(value);
      for (const child of value.value.values()) {
        least = Math.max(least, this.leastTrusted(child as Value, seen)) as Author;
      }
    }
    return least;
  }

  /**
   * True if none of these units can belong to a token. The template's own units of that kind would show their author.
   */
  private isNeutral(text: string, start: number, end: number): boolean {
    for (let i = start; i < end; i++) if (this.disguised[PERSON][text.charCodeAt(i)] > 0) return false;
    return true;
  }
}

/** Repeats a recorded run step by step. */
class Follower implements Trace {
  private step = 0;
  private readonly operands: Value[][] = [];
  private readonly pairs = new WeakMap<object, Value>(); // pairs already compared

  constructor(
    private readonly values: readonly Value[],
    private readonly disguise: Disguise,
  ) {}

  enter(): number {
    this.operands.push([]);
    return this.operands.length - 1;
  }

  leave(depth: number, value: Value): Value {
    const operands = this.operands[depth];
    this.operands.length = depth; // aborted loops have no `leave`
    const wanted = this.values[this.step++];
    if (wanted === undefined) throw lost();
    const settled = this.agrees(value, wanted) ? value : this.cover(wanted, operands);
    const outer = this.operands[depth - 1];
    outer?.push(settled);
    if (settled.type === 'FunctionValue') outer?.push(...operands); // a method operates on its object's text
    return settled;
  }

  private agrees(value: Value, wanted: Value): boolean {
    if (value.type !== wanted.type) return false;
    if (value.type === 'NamespaceValue') return true; // compared when filled, changed since
    const [inside, other] = [value.value, wanted.value] as unknown[];
    if (typeof inside === 'string') {
      if (this.pairs.get(value) === wanted) return true;
      if (!this.disguise.matches(inside, other as string)) return false;
    } else if (typeof inside === 'number' || typeof inside === 'boolean') {
      return Object.is(inside, other);
    } else if (Array.isArray(inside) || inside instanceof Map) {
      if (this.pairs.get(value) === wanted) return true;
      if (!this.itemsAgree([...inside.entries()], [...(other as Map<unknown, unknown>).entries()])) return false;
    } else {
      return true; // null, undefined, functions
    }
    this.pairs.set(value, wanted);
    return true;
  }

  private itemsAgree(items: [unknown, unknown][], wanted: [unknown, unknown][]): boolean {
    return (
      items.length === wanted.length &&
      items.every(([key, item], i) => {
        const [wantedKey, wantedItem] = wanted[i];
        return this.disguise.matches(String(key), String(wantedKey)) && this.agrees(item as Value, wantedItem as Value);
      })
    );
  }

  /** The recorded value with disguised texts. */
  private cover(wanted: Value, operands: readonly Value[]): Value {
    if (!isText(wanted)) return wanted; // an outcome without text
    const author = operands.reduce((least, value) => Math.max(least, this.disguise.leastTrusted(value)), 0) || PERSON;
    const covered = (value: Value): Value => {
      const inside = value.value as unknown;
      if (typeof inside === 'string') return alike(value, this.disguise.apply(inside, author as Author));
      if (Array.isArray(inside)) return alike(value, inside.map(covered));
      if (inside instanceof Map && value.type !== 'NamespaceValue') {
        const shown = (key: unknown) => (typeof key === 'string' ? this.disguise.apply(key, author as Author) : key);
        return alike(value, new Map(Array.from(inside, ([key, item]) => [shown(key), covered(item as Value)])));
      }
      if (inside instanceof Map || typeof inside === 'function') throw lost();
      return value;
    };
    return covered(wanted);
  }
}

function isText({ value }: Value): boolean {
  return typeof value === 'string' || typeof value === 'object' ? value !== null : typeof value === 'function';
}

function lost(): ChatTemplateError {
  return new ChatTemplateError(
    'A message holds the text of a control token, and the chat template treats that text in a way that cannot be followed. Remove it from the message.',
  );
}
