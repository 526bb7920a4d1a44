// Chat templates come with model files, so they are run on fuel: every evaluation costs, big values cost more, and what a
// few cheap steps could blow up without bound (texts, lists, values nested in themselves) has a size limit.

import { ChatTemplateError } from '../errors';
import { Namespace, type Value } from './jinja_values';

/** Evaluations of one rendering. A ChatML conversation of 1,000 messages needs 15,000. */
export const MAX_FUEL = 200_000;
export const MAX_OUTPUT = 4_000_000;
const MAX_ITEMS = 100_000; // values inside one list or mapping, counted through all levels
const MAX_DEPTH = 100;
const CHARACTERS_PER_FUEL = 1_000;
const ITEMS_PER_FUEL = 100;
/** The last resort where single steps are slow. Honest conversations render in some milliseconds. */
const MAX_MILLISECONDS = 800;

/** What a value holds, counted through all levels, a value that occurs twice counted twice: so much would printing it cost. */
interface Weight {
  items: number;
  characters: number;
  /** No namespace inside, so it stays as it is. */
  settled: boolean;
}

/** One rendering: what it has written, and what it may still spend. */
export class Rendering {
  private output = '';
  private fuel = MAX_FUEL;
  private readonly deadline = performance.now() + MAX_MILLISECONDS;
  private readonly weights = new WeakMap<object, Weight>();

  write(text: string): void {
    this.output += this.checkLength(text, this.output.length);
  }

  /** What `body` writes, taken out of the output. */
  capture(body: () => void): string {
    const before = this.output;
    this.output = '';
    body();
    const written = this.output;
    this.output = before;
    return written;
  }

  burn(amount: number): void {
    this.fuel -= amount;
    if (this.fuel < 0) {
      throw new ChatTemplateError(
        `The chat template did not end within ${MAX_FUEL} steps. Use another template or fewer messages.`,
      );
    }
    if (performance.now() > this.deadline) {
      throw new ChatTemplateError(`The chat template did not end within ${MAX_MILLISECONDS} milliseconds.`);
    }
  }

  /** Pays for one evaluation and what it gave. */
  pay(value: Value): Value {
    let cost = 1;
    if (typeof value === 'string') {
      cost += Math.floor(this.checkLength(value).length / CHARACTERS_PER_FUEL);
    } else if (Array.isArray(value) || value instanceof Map) {
      const length = Array.isArray(value) ? value.length : value.size;
      cost += Math.floor(Math.min(length, this.weigh(value, 0).items) / ITEMS_PER_FUEL);
    } else if (value instanceof Namespace) this.weigh(value, 0);
    this.burn(cost);
    return value;
  }

  /** To be asked before a text is made from many pieces. */
  checkSize(characters: number): void {
    if (!(characters <= MAX_OUTPUT)) {
      throw new ChatTemplateError(
        `The chat template made a text of ${characters} characters; at most ${MAX_OUTPUT} are allowed.`,
      );
    }
  }

  private checkLength(text: string, before = 0): string {
    this.checkSize(before + text.length);
    return text;
  }

  private weigh(value: Value, depth: number): Weight {
    const weight = { items: 1, characters: typeof value === 'string' ? value.length : 0, settled: true };
    const inner = value instanceof Namespace ? value.values : value;
    if (!Array.isArray(inner) && !(inner instanceof Map)) return weight;
    const known = this.weights.get(inner);
    if (known) return known;
    if (depth > MAX_DEPTH) {
      throw new ChatTemplateError(`The chat template nests values more than ${MAX_DEPTH} levels deep.`);
    }
    weight.settled = !(value instanceof Namespace);
    for (const child of inner instanceof Map ? [...inner.keys(), ...inner.values()] : inner) {
      const { items, characters, settled } = this.weigh(child, depth + 1);
      weight.items += items;
      weight.characters += characters;
      weight.settled &&= settled;
      if (weight.items > MAX_ITEMS || weight.characters > 2 * MAX_OUTPUT) {
        throw new ChatTemplateError(
          `The chat template made a value of more than ${MAX_ITEMS} items or ${2 * MAX_OUTPUT} characters.`,
        );
      }
    }
    if (weight.settled) this.weights.set(inner, weight);
    return weight;
  }
}
