// Random constraints that mean harm: deep, wide, exponential, recursive, malformed, with the names of prototypes. Each is
// refused with a typed error, or compiles.

import type { Constraint } from '../../../src/grammar/constraint';

type Pick = <T>(from: readonly T[]) => T;

const KEYWORDS = [
  ...[
    'type',
    'properties',
    'required',
    'additionalProperties',
    'items',
    'prefixItems',
    'enum',
    'const',
    'anyOf',
    'oneOf',
  ],
  ...['$ref', '$defs', 'definitions', 'minItems', 'maxItems', 'minLength', 'maxLength', 'pattern', 'format', 'minimum'],
  ...['maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'allOf', 'not', 'if', 'multipleOf', '$id', '$anchor', 'title'],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'then',
    'length',
    '',
    'uniqueItems',
    'patternProperties',
  ],
];
const TYPES = ['string', 'integer', 'number', 'boolean', 'null', 'array', 'object', '__proto__', 'constructor', ''];
const REFERENCES = [
  ...['#', '#/$defs/a', '#/$defs/b', '#/$defs/c', '#/$defs/__proto__', '#/$defs/constructor', '#/__proto__', '#/$defs'],
  ...['#/properties/a', '#/$defs/a/items', '#/$defs/%', '#/$defs/~', '#/~01', '#a', 'http://x.test/', '', '#/items/0'],
];
const NUMBERS = [
  ...[0, -0, 1, 2, 3, 100, -1, 0.5, 1e9, 2 ** 31, 2 ** 53, Number.MAX_SAFE_INTEGER, 1e21, 1e300, 5e-324, -1e-320],
  ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.MAX_VALUE],
];
const PATTERNS = [
  ...['(a|b)*a(a|b){16}', '(x+x+)+y', '^(((a{0,99}){0,99}){0,99}){0,99}$', 'a.{25}b', '(?=a)', '\\1', '(?<n>a)\\k<n>'],
  ...['[', '(', '*', 'a{2,1}', '[z-a]', '\\u{110000}', '\\ud800', '\\p{L}', '^', '$', '', '|', '(|a)*', '(a*)*', '\\b'],
  ...['[^]', '[]', '.*.*.*.*', '(.{0,50}){0,50}', 'a{1000000000}', '(?:)', '(?:){999}', '[\\ud83d\\ude00]', '^a|b$'],
];
const TEXTS = [
  '',
  'a',
  '"',
  '\\',
  '\n',
  '\u0000',
  '\ud800',
  '\udc00\ud800',
  '\u{1f600}',
  '__proto__',
  'ä',
  '\u2028',
  ']}',
];
const PIECES = [
  ...['root', 'a', 'b', '::=', '|', '"x"', '"', '[', ']', '[a-z]', '[^"]', '(', ')', '*', '+', '?', '{2,3}', '{0,99}'],
  ...[
    '{1000000}',
    '{,}',
    '\n',
    ' ',
    '.',
    '#',
    '\\',
    '\\x',
    '\\u12',
    '"\\xff"',
    '[\\U0010FFFF]',
    '<|a|>',
    '-',
    '::',
    'ä',
    '\u0000',
  ],
];

export function hostileConstraint(random: () => number): Constraint {
  const pick: Pick = (from) => from[Math.floor(random() * from.length)];
  const kinds = [jsonSchema, jsonSchema, jsonSchema, large, large, regex, grammar, grammar, choice, nonsense];
  return pick(kinds)(random, pick);
}

const many = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: Math.floor(n) }, (_, i) => make(i));
/** Mostly small, now and then huge. */
const size = (random: () => number, most: number) => Math.ceil(most ** random());

/** Keywords at random, with values of the right kind and of any other. */
function jsonSchema(random: () => number, pick: Pick): Constraint {
  let left = size(random, 400);
  const value = (): unknown => pick<unknown>([...NUMBERS, ...TEXTS, null, true, false, [], {}, [[]], undefined]);
  const list = (make: () => unknown) => many(random() * 4, make);
  const schema = (): unknown => {
    if (left-- <= 0 || random() < 0.03) return value();
    const made: [string, unknown][] = list(() => null).map(() => {
      const keyword = random() < 0.9 ? KEYWORDS[Math.floor(random() * 25)] : pick(KEYWORDS);
      return [keyword, random() < 0.05 ? value() : ofKeyword(keyword)];
    });
    return Object.fromEntries([['type', pick(TYPES.slice(0, 7))], ...made].slice(random() < 0.7 ? 0 : 1));
  };
  const named = () =>
    Object.fromEntries(list(schema).map((one) => [pick([...KEYWORDS, 'a', 'b', 'c', ...TEXTS]), one]));
  const ofKeyword = (keyword: string): unknown => {
    if (keyword === 'type') return random() < 0.5 ? pick(TYPES) : list(() => pick(TYPES));
    if (['properties', '$defs', 'definitions'].includes(keyword)) return named();
    if (keyword === 'required') return list(() => pick([...TEXTS, ...KEYWORDS]));
    if (['items', 'additionalProperties', 'not'].includes(keyword)) return schema();
    if (['prefixItems', 'anyOf', 'oneOf', 'allOf'].includes(keyword)) return list(schema);
    if (keyword === 'enum') return many(size(random, 2000), (i) => (random() < 0.5 ? i * 7919 : value()));
    if (keyword === '$ref') return pick(REFERENCES);
    if (keyword === 'pattern') return pick(PATTERNS);
    if (keyword === 'format') return pick(['date', 'email', 'uuid', 'date-time', 'time', 'ipv4', '__proto__']);
    return /^(min|max|excl|mult)/i.test(keyword) ? pick(NUMBERS) : value();
  };
  const root = schema();
  const $defs = { a: schema(), b: schema(), c: schema() };
  const isOpen = random() < 0.3;
  const whole = typeof root === 'object' && root !== null && !Array.isArray(root) ? { ...root, $defs } : root;
  return { kind: 'json_schema', schema: whole, layout: pick(['free', 'line']), open: isOpen };
}

/** One way to be large, at a random size. */
function large(random: () => number, pick: Pick): Constraint {
  const n = size(random, 3000);
  const chain = (make: (next: object, i: number) => object) => ({
    $ref: '#/$defs/d0',
    $defs: Object.fromEntries(
      many(Math.min(n, 1500), (i) => [
        `d${i}`,
        i + 1 >= Math.min(n, 1500) ? { type: 'null' } : make({ $ref: `#/$defs/d${i + 1}` }, i),
      ]),
    ),
  });
  const nest = (make: (inner: unknown) => unknown) => many(n, () => 0).reduce<unknown>(make, { type: 'boolean' });
  const properties = (make: (i: number) => unknown) => Object.fromEntries(many(n, (i) => [`p${i}`, make(i)]));
  const count = pick(NUMBERS);
  const ways: (() => unknown)[] = [
    () => nest((items) => ({ type: 'array', items })),
    () => nest((inner) => ({ anyOf: [inner, { type: 'string' }, inner] })),
    () => nest((inner) => ({ type: 'object', properties: { a: inner, b: inner } })),
    () => ({ const: nest((inner) => (random() < 0.5 ? [inner] : { a: inner })) }),
    () => chain((next) => ({ type: 'array', prefixItems: [next, next], minItems: 2 })),
    () =>
      chain((next) => ({
        anyOf: [
          { type: 'array', prefixItems: [next] },
          { type: 'array', items: next },
        ],
      })),
    () => chain((next, i) => ({ type: 'object', properties: { [`k${i % 3}`]: next, a: next }, required: ['a'] })),
    () => ({ type: 'object', properties: properties(() => ({ pattern: pick(PATTERNS) })) }),
    () => ({
      type: 'object',
      properties: properties((i) => ({ type: 'string', maxLength: i })),
      additionalProperties: {},
    }),
    () => ({
      properties: properties((i) => ({ minimum: i / 7, maximum: i * 1e15 + 0.1 })),
      additionalProperties: true,
    }),
    () => ({
      anyOf: many(n, (i) => ({ properties: { a: { $ref: '#/$defs/a' }, [`b${i}`]: { const: i } } })),
      $defs: { a: {} },
    }),
    () => ({
      type: 'array',
      items: { type: 'array', minItems: n, items: {} },
      minItems: count,
      maxItems: pick(NUMBERS),
    }),
    () => ({ type: 'string', minLength: count, maxLength: pick(NUMBERS) }),
    () => ({ type: pick(['integer', 'number']), minimum: count, exclusiveMaximum: pick(NUMBERS) }),
    () => ({ enum: many(n, (i) => `${'a'.repeat(i % 50)}${(i * 7919) % n}`) }),
    () => ({ type: 'string', pattern: `^${many(n, (i) => `(?:a|${i})`).join(pick(['', '?', '*', '|']))}$` }),
  ];
  return { kind: 'json_schema', schema: pick(ways)(), open: random() < 0.2 };
}

function regex(random: () => number, pick: Pick): Constraint {
  const joints = ['', '|', '*', '+', '?', '{0,40}', '(', ')', '[', ']', '.', '\\', '^'];
  const source = many(size(random, 200), () => pick(PATTERNS) + pick(joints)).join('');
  return { kind: 'regex', source: random() < 0.5 ? source : pick(PATTERNS).repeat(size(random, 3000)) };
}

function grammar(random: () => number, pick: Pick): Constraint {
  const n = size(random, 2000);
  const name = (i: number) => (i === 0 ? 'root' : `r${i}`);
  const other = () => name(Math.floor(random() * n));
  const body = () =>
    many(1 + random() * 4, () =>
      pick([other(), `${other()}*`, '"a"', '[a-c]{2,9}', `(${other()} | "b")+`, '"c"?', '|', '.']),
    ).join(' ');
  if (random() < 0.4)
    return { kind: 'grammar', source: `root ::= ${many(n, () => pick(PIECES)).join(pick(['', ' ']))}` };
  return { kind: 'grammar', source: many(n, (i) => `${name(i)} ::= ${body()}`).join('\n') };
}

function choice(random: () => number, pick: Pick): Constraint {
  return { kind: 'choice', texts: many(size(random, 5000), (i) => pick(TEXTS).repeat(i % 20)) };
}

/** What a caller without types may pass. */
function nonsense(_: () => number, pick: Pick): Constraint {
  const circle: Record<string, unknown> = { type: 'array' };
  circle.items = circle;
  const bad: unknown[] = [
    ...[null, undefined, 1, 'json_schema', [], {}, Symbol('a'), 1n, () => ({}), new Map(), new Date(0), circle],
    ...[
      { type: 'string', minLength: 1n },
      { const: 1n },
      { enum: [Symbol('a')] },
      { const: circle },
      { const: () => 0 },
    ],
    ...[
      { enum: new Array(5) },
      { properties: [] },
      { required: { length: 2 ** 32 } },
      Object.create({ type: 'string' }),
    ],
    ...[
      { const: Object.create(null) },
      {
        const: new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error('a trap');
            },
          },
        ),
      },
    ],
    ...[
      {
        get type(): string {
          throw new Error('a getter');
        },
      },
      {
        const: {
          toJSON: () => {
            throw new Error('toJSON');
          },
        },
      },
    ],
    JSON.parse('{"__proto__":{"type":"string"},"properties":{"__proto__":{"type":"null"}},"required":["__proto__"]}'),
  ];
  const shapes: ((value: unknown) => unknown)[] = [
    (value) => value,
    (schema) => ({ kind: 'json_schema', schema }),
    (schema) => ({ kind: 'json_schema', schema: { type: 'object', properties: { a: schema } } }),
    (source) => ({ kind: pick(['regex', 'grammar', 'constructor', '__proto__']), source }),
    (texts) => ({ kind: 'choice', texts: pick<unknown>([texts, [texts]]) }),
    (layout) => ({ kind: 'json_object', layout }),
    (open) => ({ kind: 'json_schema', schema: {}, open }),
  ];
  return pick(shapes)(pick(bad)) as Constraint;
}
