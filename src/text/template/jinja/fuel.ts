// Chat templates come from untrusted model files, so they run on fuel. Every evaluation costs fuel, large values cost
// more, and sizes that a few cheap steps could blow up (texts, lists, nested values) are limited.

import { ChatTemplateError } from '../../../errors';
import { type Node, type Scope, toValue, type Value } from './jinja_values';
import { checkMost, MAX_OUTPUT, PythonInterpreter, type Weight } from './python';

/** Evaluations per rendering. A ChatML conversation of 1,000 messages needs 15,000. */
const MAX_FUEL = 200_000;
/** More for each message, since some look at all others: Gemma 4 needs 145,000 for 161 and 524,000 for 321. */
const FUEL_OF_MESSAGE = 5_000;
/** More for each text of the request. A tool with ten parameters has 45 and needs up to 1,400 (Kimi K3). */
const FUEL_OF_TEXT = 50;
const MOST_FUEL = 2_000_000; // 2 s of a desktop
const MAX_ITEMS = 100_000; // values inside one list or mapping, over all levels
const MAX_DEPTH = 100;
const CHARACTERS_PER_FUEL = 1_000;
const ITEMS_PER_FUEL = 100;
const FUEL_PER_ROUND = 4; // cost of a loop's round, in addition to its body
/** Fuel between two checks of the clock. */
const FUEL_PER_LOOK = 1_000;
/**
 * Time limit, as a last resort against slow single steps. Excludes parsing. Ordinary conversations render in a few ms.
 */
const MAX_MILLISECONDS = 300;
/** Added by each step. A desktop takes a twentieth of it, a slow phone half. */
const MILLISECONDS_PER_STEP = 0.02;
const CHARACTERS_PER_STEP = 20;

/** Observes the beginning and end of each evaluation, and may replace its value. */
export interface Trace {
  /** Returns the first argument of the matching `leave`. An aborted evaluation has no `leave`. */
  enter(): number;
  leave(entered: number, value: Value): Value;
}

/** The steps and the time of renderings. Both grow with the messages and the texts of a request. */
export class Budget {
  /** Left for this rendering. */
  fuel: number;
  /** Left for all renderings. The clock runs while a template does, and not while texts become values. */
  milliseconds: number;
  readonly most: number;

  constructor(messages = 0, texts: readonly string[] = []) {
    const characters = texts.reduce((sum, { length }) => sum + length, 0);
    this.most = Math.min(MOST_FUEL, MAX_FUEL + FUEL_OF_MESSAGE * messages + FUEL_OF_TEXT * texts.length);
    this.fuel = this.most;
    this.milliseconds = MAX_MILLISECONDS + (MILLISECONDS_PER_STEP * characters) / CHARACTERS_PER_STEP;
  }

  /** @throws ChatTemplateError where it is spent */
  burn(amount: number): void {
    this.fuel -= amount;
    if (this.fuel < 0) throw endless(`${this.most} steps`);
  }
}

export class FueledInterpreter extends PythonInterpreter {
  private nextLook: number;
  private looked = performance.now();
  private readonly looped = new WeakSet<object>(); // expressions that a loop iterates over
  private readonly weights = new WeakMap<object, Weight>(); // of what does not change

  constructor(
    scope: Scope,
    private readonly budget: Budget,
    private readonly trace: Trace | null = null,
  ) {
    super(scope);
    this.nextLook = budget.fuel - FUEL_PER_LOOK;
  }

  override evaluate(node: Node, scope: Scope): Value {
    const { budget } = this;
    budget.burn(1);
    budget.milliseconds += MILLISECONDS_PER_STEP;
    if (budget.fuel < this.nextLook) this.look();
    if (node?.type === 'For') {
      const { iterable } = node as unknown as { iterable: { type: string; lhs?: object } };
      this.looped.add(iterable.type === 'SelectExpression' ? iterable.lhs! : iterable);
    }
    const entered = this.trace?.enter() ?? 0;
    let own = super.evaluate(node, scope);
    if (own.type === 'UndefinedValue' && node && this.looped.has(node)) own = toValue([]); // as in Python
    const value = this.trace?.leave(entered, own) ?? own;
    if (value.type === 'StringValue') {
      const { length } = value.value as string;
      checkMost(length, MAX_OUTPUT);
      budget.burn(Math.floor(length / CHARACTERS_PER_FUEL));
    } else if (value.value instanceof Map || Array.isArray(value.value)) {
      const { items, isFixed } = this.weigh(value);
      const length = Array.isArray(value.value) ? value.value.length : value.value.size;
      const rounds = node && this.looped.has(node) ? FUEL_PER_ROUND * length : 0;
      budget.burn(rounds || Math.floor((isFixed ? length : items) / ITEMS_PER_FUEL));
    }
    return value;
  }

  private look(): void {
    const now = performance.now();
    this.budget.milliseconds -= now - this.looked;
    if (this.budget.milliseconds < 0) throw endless('its time');
    this.looked = now;
    this.nextLook = this.budget.fuel - FUEL_PER_LOOK;
  }

  protected override weigh(value: Value, depth = 0): Weight {
    const known = this.weights.get(value);
    if (known) return known;
    // A namespace may get more later, and so may all that holds one.
    const weight = { items: 1, characters: 0, isFixed: value.type !== 'NamespaceValue' };
    if (value.type === 'StringValue') weight.characters = (value.value as string).length;
    const inner = value.value;
    if (inner instanceof Map || Array.isArray(inner)) {
      checkMost(depth, MAX_DEPTH, 'levels of values');
      for (const child of inner.values()) {
        const { items, characters, isFixed } = this.weigh(child as Value, depth + 1);
        weight.items += items;
        weight.characters += characters;
        weight.isFixed &&= isFixed;
        checkMost(weight.items, MAX_ITEMS, 'items in a value');
        checkMost(weight.characters, 2 * MAX_OUTPUT);
      }
      if (weight.isFixed) this.weights.set(value, weight);
    }
    return weight;
  }
}

function endless(limit: string): ChatTemplateError {
  return new ChatTemplateError(
    `The chat template did not end within ${limit}. Use another template or fewer messages.`,
  );
}
