// Chat templates as a grammar: ordinary programs, and random ones that loop, nest, recurse and repeat.

import fc from 'fast-check';

export const TEMPLATES: readonly string[] = [
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] | trim + '<|im_end|>\\n' }}" +
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
  "{%- if messages[0]['role'] == 'system' %}{% set system = messages[0]['content'] %}{% set rest = messages[1:] %}" +
    "{% else %}{% set system = '' %}{% set rest = messages %}{% endif %}{{ bos_token }}" +
    "{% for m in rest %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}" +
    "{{ raise_exception('Conversation roles must alternate') }}{% endif %}" +
    "{% if m['role'] == 'user' %}{{ '[INST] ' + (system ~ '\\n' if loop.first and system else '') + m['content'] + ' [/INST]' }}" +
    "{% elif m['role'] == 'assistant' %}{{ m['content'] + eos_token }}{% endif %}{% endfor %}",
  "{%- set ns = namespace(found=false, last=0) -%}{%- for m in messages -%}{%- if m.role == 'user' -%}" +
    '{%- set ns.found = true -%}{%- set ns.last = loop.index0 -%}{%- endif -%}{%- endfor -%}' +
    '{%- macro turn(m, last=false) -%}<|start|>{{ m.role }}<|sep|>{{ m.content | replace("\\n\\n", "\\n") }}' +
    '{%- if not last -%}<|end|>{%- endif -%}{%- endmacro -%}' +
    "{%- if tools is not none and tools -%}{{ tools | tojson(indent=2) }}{%- endif -%}{{ 'Today: ' + strftime_now('%d %b %Y') }}" +
    '{%- for m in messages -%}{{ turn(m, loop.last) }}{%- endfor -%}',
  "{% for m in messages | selectattr('role', 'in', ['user', 'assistant']) %}{{ m.items() | list | length }}{{ m.content.split(' ') | join('-') }}" +
    "{{ m.content[::-1][:4] }}{{ m.content.strip().upper().startswith('A') }}{{ {'a': [1, 2.5, none]} | dictsort }}{% endfor %}",
];

const name = fc.constantFrom('x', 'y', 'z');
const anyText = fc.constantFrom(
  "''",
  "'a'",
  "'ab\\n'",
  '"é🙂"',
  "'(a+)+$'",
  "'<|end|>'",
  "'%s%d{0}'",
  `'${'z'.repeat(300)}'`,
);
const anyNumber = fc.constantFrom('0', '1', '2', '3', '0.5', '63', '64', '99', '9999', '10000', '4294967296', '1e308');
const toText = fc.constantFrom(
  ...['upper', 'trim', 'tojson', 'string', 'capitalize', 'title', 'safe', 'indent', 'indent(9)', 'indent(999999)'],
  ...[
    "replace('a', 'aaaaaaaaaa')",
    "replace('', 'aaaaaaaaaa')",
    "default('')",
    'tojson(indent=9999)',
    'center(99999999)',
  ],
);
const toList = fc.constantFrom(
  'list',
  'reverse',
  'sort',
  'unique',
  'list | list',
  "map('upper')",
  "select('string')",
  'batch(3)',
);
const toNumber = fc.constantFrom('length', 'int', 'float', 'abs', 'int(7)', 'round(99)');
const method = fc.constantFrom(
  ...[
    'upper()',
    'strip()',
    'title()',
    "rstrip('a')",
    "replace('a', 'aaaaaaaaaa')",
    "split('a')[0]",
    "split(' ', 1) | last",
    'format(1)',
  ],
);
const bounds = fc.constantFrom(
  '[0:]',
  '[-1:]',
  '[1:]',
  '[::-1]',
  '[:99999999999]',
  '[::0]',
  '[1:2:3]',
  '[-9007199254740993:]',
);

/** Syntax in places where it does not belong. */
const oddity = fc.constantFrom(
  ...[
    'undefined_name',
    'none',
    'tools',
    'ns',
    'loop',
    'messages[9]',
    'x.y.z',
    "''.constructor",
    "messages['__proto__']",
    'range',
  ],
  ...[
    'x()',
    'messages | nonsense',
    '1 / 0',
    "raise_exception('no')",
    "'a' is nonsense",
    "{'a': x}",
    '-x',
    'not',
    '(',
    '9.upper()',
    "'a' * 9",
    'messages | batch(3)',
    'range(10000)',
  ],
);

interface Grammar {
  text: string;
  number: string;
  list: string;
  value: string;
  block: string;
}

const { text, block } = fc.letrec<Grammar>((tie) => ({
  text: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.oneof(anyText, fc.constantFrom('messages[0].content', "messages[-1]['role']", 'bos_token', 'eos_token')),
    fc.tuple(tie('text'), fc.constantFrom('~', '+'), tie('text')).map(([a, op, b]) => `(${a} ${op} ${b})`),
    fc.tuple(tie('value'), toText).map(([a, filter]) => `(${a} | ${filter})`),
    fc.tuple(tie('text'), method).map(([a, call]) => `(${a}.${call})`),
    fc.tuple(tie('text'), bounds).map(([a, part]) => `(${a})${part}`),
    fc.tuple(tie('list'), tie('text')).map(([a, b]) => `(${a} | join(${b}))`),
  ),
  number: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    anyNumber,
    fc
      .tuple(tie('number'), fc.constantFrom('+', '-', '*', '/', '%'), tie('number'))
      .map(([a, op, b]) => `(${a} ${op} ${b})`),
    fc.tuple(tie('value'), toNumber).map(([a, filter]) => `(${a} | ${filter})`),
  ),
  list: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom(
      'messages',
      'range(3)',
      'range(9999)',
      'messages[0].items()',
      "messages | selectattr('role', 'equalto', 'user')",
      '[1, 2]',
    ),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    fc.tuple(tie('list'), toList).map(([a, filter]) => `(${a} | ${filter})`),
    fc.tuple(tie('list'), tie('list')).map(([a, b]) => `(${a} + ${b})`),
    fc.tuple(tie('list'), bounds).map(([a, part]) => `(${a})${part}`),
    fc.tuple(tie('text'), anyText).map(([a, b]) => `(${a}).split(${b})`),
    tie('number').map((a) => `range(${a} | int)`),
  ),
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    fc.oneof(name, oddity),
    tie('text').map(String),
    tie('text').map(String),
    tie('number').map(String),
    tie('list').map(String),
    fc.tuple(tie('value'), tie('value'), tie('value')).map(([a, b, c]) => `(${a} if ${b} else ${c})`),
  ),
  block: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom('text ', '\n  ', '<|end|>', '{# note #}', '{%- if true -%}  {%- endif %}'),
    tie('value').map((a) => `{{ ${a} }}`),
    fc.tuple(name, tie('value')).map(([x, a]) => `{% set ${x} = ${a} %}`),
    fc.tuple(tie('value'), tie('block'), tie('block')).map(([a, b, c]) => `{% if ${a} %}${b}{% else %}${c}{% endif %}`),
    fc.tuple(name, tie('list'), tie('block')).map(([x, a, b]) => `{% for ${x} in ${a} %}${b}{% endfor %}`),
    fc.tuple(tie('block'), tie('value')).map(([b, a]) => `{% macro f(x, y=1) %}${b}{% endmacro %}{{ f(${a}) }}`),
    tie('text').map((a) => `{% macro f(x) %}{{ f(x ~ ${a}) }}{% endmacro %}{{ f('') }}`),
    fc.tuple(toText, tie('block')).map(([filter, b]) => `{% filter ${filter} %}${b}{% endfilter %}`),
    fc.array(tie('block'), { maxLength: 4 }).map((blocks) => blocks.join('')),
  ),
}));

/** A text that more than doubles with each round of a loop. */
const doubling = fc.tuple(text, block).map(([a, body]) => {
  const rounds = "{% set ns = namespace(x='ab') %}{% for z in range(60) %}";
  return `${rounds}{% set ns.x = ns.x ~ ${a} ~ ns.x[::2] %}${body}{% endfor %}{{ ns.x | length }}`;
});
const part = fc.oneof({ weight: 30, arbitrary: block }, { weight: 1, arbitrary: doubling });

/** A whole program. Most of them parse, and a third run to the end. */
export const templatePrograms: fc.Arbitrary<string> = fc
  .array(part, { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join(''));
