// Random schemas out of the enforced keywords.

type Schema = Record<string, unknown> | boolean;

// Without __proto__, which ajv gets wrong.
const NAMES = ['a', 'ab', 'abc', 'b', 'name', 'nämé', '', 'x"y', '\n', 'value', 'values', '0', '\u{1f600}'];
const PATTERNS = [
  '^[a-z]+$',
  'ab|cd',
  '^\\d{2,4}$',
  '^(?:a|b)*c?$',
  '[^x]',
  '^.{0,3}$',
  '\\s',
  '^"\\\\\\n$',
  '^[^a-z]?ä',
];
const FORMATS = [
  'date',
  'date-time',
  'time',
  'duration',
  'uuid',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
];
const VALUES = [null, true, false, 0, -1, 1.5, 1e21, '', 'a', 'ab', 'ä"\\\n', [], [1, 'a'], {}, { a: [null] }];

/** A schema that may contain itself by way of `#/$defs/one` and `#/$defs/two`. */
export function randomSchema(random: () => number): Schema {
  const schema = new Schemas(random);
  const root = schema.any(3);
  if (typeof root === 'boolean') return root;
  return { ...root, $defs: { one: schema.any(2), two: schema.any(2) } };
}

class Schemas {
  constructor(private readonly random: () => number) {}

  any(depth: number): Schema {
    const scalars = [this.string, this.number, this.values, this.oneType, this.types];
    const nested = [this.object, this.object, this.array, this.branches, this.reference, this.allOf];
    return this.pick(depth === 0 ? scalars : [...scalars, ...nested, ...nested]).call(this, depth - 1);
  }

  private pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)];
  }

  private chance(share: number): boolean {
    return this.random() < share;
  }

  private below(n: number): number {
    return Math.floor(this.random() * n);
  }

  private some<T>(from: readonly T[], share: number): T[] {
    return from.filter(() => this.chance(share));
  }

  private oneType(): Schema {
    if (this.chance(0.05)) return this.chance(0.5);
    return { type: this.pick(['string', 'integer', 'number', 'boolean', 'null', 'array', 'object']), title: 'a title' };
  }

  private types(): Schema {
    return { type: [...this.some(['string', 'integer', 'number', 'boolean', 'array'], 0.4), 'null'] };
  }

  private string(): Schema {
    if (this.chance(0.3)) return { type: 'string', pattern: this.pick(PATTERNS) };
    if (this.chance(0.3)) return { type: 'string', format: this.pick(FORMATS) };
    const minLength = this.below(4);
    return { type: 'string', minLength, ...(this.chance(0.5) ? { maxLength: minLength + this.below(20) } : {}) };
  }

  private number(): Record<string, unknown> {
    const type = this.pick(['integer', 'number']);
    const bound = () => this.bound(type === 'integer' ? 0.1 : 0.7);
    const [low, high] = [bound(), bound()].sort((a, b) => a - b);
    const minimum = { [this.pick(['minimum', 'exclusiveMinimum'])]: low };
    const maximum = { [this.pick(['maximum', 'exclusiveMaximum'])]: high };
    const multiple = this.chance(0.2) ? { multipleOf: 1 + this.below(12) } : {};
    return { type, ...(this.chance(0.7) ? minimum : {}), ...(this.chance(0.7) ? maximum : {}), ...multiple };
  }

  /** @param share of bounds that are not whole */
  private bound(share: number): number {
    if (this.chance(0.2)) return this.pick([0, 1, -1, 0.1 + 0.2, 1e-7, -1e21, 1e300, 5e-324, 0.5, 100, -0.001]);
    const whole = Math.floor((this.random() - 0.5) * 10 ** this.below(17));
    return this.chance(share) ? whole / 10 ** this.below(17) : whole;
  }

  private values(): Schema {
    if (this.chance(0.3)) return { const: this.pick(VALUES) };
    const values = this.some(VALUES, 0.4);
    return { enum: values.length > 0 ? values : [null] };
  }

  private object(depth: number): Schema {
    const others = this.chance(0.5) ? { additionalProperties: this.chance(0.5) ? false : this.any(depth) } : {};
    return { type: 'object', ...this.named(NAMES, depth), ...others };
  }

  private named(all: readonly string[], depth: number): { properties: Record<string, Schema>; required?: string[] } {
    const names = this.some(all, 0.3);
    const properties = Object.fromEntries(names.map((name) => [name, this.any(depth)]));
    const drawn = new Set([...this.some(names, 0.5), ...this.some(NAMES, 0.02)]);
    const required = [...drawn].filter((name) => name !== ''); // the empty name as the last missing one passes in ajv
    return { properties, ...(this.chance(0.7) ? { required } : {}) };
  }

  private array(depth: number): Schema {
    const minItems = this.below(3);
    return {
      type: 'array',
      ...(this.chance(0.7) ? { items: this.any(depth) } : {}),
      ...(this.chance(0.3) ? { prefixItems: Array.from({ length: 1 + this.below(3) }, () => this.any(depth)) } : {}),
      ...(this.chance(0.4) ? { minItems } : {}),
      ...(this.chance(0.4) ? { maxItems: minItems + this.below(4) } : {}),
    };
  }

  private branches(depth: number): Schema {
    return { anyOf: Array.from({ length: 1 + this.below(4) }, () => this.any(depth)) };
  }

  /** Parts that say nothing of the same keyword but properties and required. */
  private allOf(depth: number): Schema {
    if (this.chance(0.3)) return { allOf: [this.reference()], title: 'a title' };
    const { type, ...bounds } = this.number();
    if (this.chance(0.3)) return { allOf: [{ type }, bounds] };
    const parts = [NAMES.slice(0, 6), NAMES.slice(6)].map((names) => this.named(names, depth));
    return { type: 'object', allOf: parts.map(({ properties, required = [] }) => ({ properties, required })) };
  }

  private reference(): Schema {
    return { $ref: this.pick(['#/$defs/one', '#/$defs/two']) };
  }
}
