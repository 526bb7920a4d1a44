"""Renders small templates with Jinja itself, set up as transformers sets it up for chat templates.

Writes test/fixtures/jinja/cases.json: a list of `template` with `expected`, the text, or null where Jinja refuses it.
Needs jinja2 3.1 and nothing else.
"""

import json
from pathlib import Path

from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

MESSAGES = [
    {"role": "developer", "content": " Be brief. "},
    {"role": "user", "content": "Hello, it's me\nagain"},
    {"role": "assistant", "content": "<think>\nhm\n</think>\n\nHi \u00fc \U0001f600"},
]

# Expressions are printed between bars, so that white space shows.
EXPRESSIONS = """
1 + 2 * 3 - 4 // 3 ~ 'x'
7 / 2
8 / 2
7 // 2
-7 // 2
-7 % 3
7 % -3
2 ** 3 ** 2
2 ** -1
2.5 * 2
1.0
-1 | abs
- 1.5 | abs
1 + 1.5
7.5 // 2
true + 1
1 / 0
'a' + 'b' ~ 1 ~ none ~ true
'ab' * 3
'a' 'b'
[1] + [2, 'x']
[1, 2.0, 'a', "it's", none, true, [], {}]
{'a': 1, 'b': {'c': 'd"e'}}
"a\\tb\\n\\x41\\u00fc\\q\\\\"
'it\\'s'
1 < 2 < 3
1 < 3 < 2
1 == 1.0
true == 1
none == false
[1, [2]] == [1, [2.0]]
{'a': [1]} == {'a': [1]}
'a' < 'b'
'a' in 'cat'
'a' not in ['a', 'b']
2 in [1, 2.0]
'a' in {'a': 1}
'x' in missing
not 1 == 2
not true or true and false
1 if false
1 if true else 2
1 if false else 2 if false else 3
'' or 'x' and 'y'
missing
missing is defined
missing is not defined
none is none
1 is number
true is number
true is boolean
1 is integer
1.0 is float
true is integer
'a' is string
[] is iterable
{} is mapping
[] is mapping
'a' is sequence
{} is sequence
3 is odd
-3 is odd
4 is even
6 is divisibleby 3
6 is divisibleby(4)
'a' is in ['a']
1 is eq 1
1 is equalto(2)
1 is ne 2
'abc' is lower
'ABC' is upper
'1' is lower
range is callable
none is not none and true
messages[0].role
messages[0]['content']
messages[-1].role
messages[0].missing
messages.0.role
messages[5]
messages[1:] | length
messages[::-1][0].role
'abcdef'[1:4]
'abcdef'[::-2]
'abcdef'[-3:]
'abcdef'[:100]
'abc'[1]
[1, 2, 3, 4][1:3]
[1, 2, 3, 4][3:0:-1]
messages[0].content.strip()
'  a b '.strip() ~ '|' ~ ' a '.lstrip() ~ '|' ~ ' a '.rstrip()
'xxaxx'.strip('x') ~ 'xxaxx'.lstrip('x') ~ 'xyaxy'.rstrip('yx')
'\\n\\na\\n'.lstrip('\\n')
'a,b,c'.split(',')
'a,b,c'.split(',', 1)
' a  b c '.split()
' a  b c '.split(none, 1)
messages[2].content.split('</think>')[-1].lstrip('\\n')
'abc'.startswith('ab') and 'abc'.endswith(('x', 'c'))
'aaa'.replace('a', 'b', 2)
'abc'.replace('', '-')
'hello world'.title() ~ 'HELLO'.capitalize() ~ 'a'.upper() ~ 'B'.lower()
"they're bill's".title()
"they're bill's friends" | title
{'a': 1}.get('a') ~ {'a': 1}.get('b') ~ {'a': 1}.get('b', 2)
{'a': 1, 'b': 2}.items() | list | tojson
{'a': 1}.keys() | list ~ {'a': 1}.values() | list
{'a': 1}['a']
{'items': 5}['items']
{'items': 5}.items() | length
'a'.constructor
' a ' | trim
'xax' | trim('x')
'Hello' | upper ~ 'Hello' | lower
'hELLO wORLD' | capitalize
'abc' | first ~ 'abc' | last
[] | first
[3, 1, 2] | sort
[3, 1, 2] | sort(reverse=true)
['b', 'A', 'c'] | sort
['b', 'A', 'c'] | sort(case_sensitive=true)
messages | sort(attribute='role') | map(attribute='role') | join(',')
[1, 'a'] | sort
'abc' | reverse
[1, 2] | reverse | list
'abc' | list
{'a': 1, 'b': 2} | list
[1, 2, 1, 'A', 'a'] | unique | list
[1, 'a', none] | join('-')
'abc' | join('-')
messages | join(', ', attribute='role')
messages | map(attribute='role') | list
messages | map(attribute='missing', default='-') | join(',')
['a', 'b'] | map('upper') | join
messages | selectattr('role', 'equalto', 'user') | list | length
messages | rejectattr('role', 'eq', 'user') | map(attribute='role') | list
messages | selectattr('role') | list | length
messages | selectattr('missing', 'defined') | list
[1, 2, 3, 4] | select('odd') | list
[0, 1] | reject | list
missing | default('x')
'' | default('x')
'' | default('x', true)
none | d('x', boolean=true)
'12' | int + 1
'x' | int
'x' | int(5)
'3.7' | int
3.7 | int
-3.7 | int
'2.5' | float
'x' | float
true | int
5 | string ~ 1.5 | string ~ true | string
[1] | string
'a\\nb\\n\\nc' | indent
'a\\nb\\n\\nc' | indent(2, true)
'a\\nb\\n\\nc' | indent(width=1, blank=true)
'a\\nb' | indent('> ')
'aXa' | replace('a', 'b')
'aXa' | replace('a', 'b', 1)
{'b': 1, 'A': 2} | dictsort | tojson
{'b': 1, 'A': 2} | dictsort(by='value', reverse=true) | tojson
{'b': 1, 'a': 2} | items | list | tojson
{'b': 1} | length ~ 'abc' | count
'a' | safe
missing | length
{'a': [1, 2.0, none, true, 'x"\\n\\u00fc\\x7f']} | tojson
{'a': [1, {'b': []}], 'c': {}} | tojson(indent=2)
{'b': 1, 'a': '\\u00fc'} | tojson(sort_keys=true, ensure_ascii=true)
{'b': 1, 'a': 2} | tojson(separators=(',', ':'))
{'b': 1} | tojson(indent=4, separators=(', ', ' = '))
[] | tojson(indent=2)
range(3) | list
range(5, 0, -2) | list
namespace(a=1).a
dict(a=1, b='x')
(1, 2) | length
(1)
()| length
[1, 2,] | length
{'a': 1,} | length
range(2) | map('string') | join
raise_exception('no')
'a' | nofilter
'a' is notest
missing.attribute
1 + 'a'
none + 1
[1, 2] | join(', ') | upper
'%s' | length
"{{ }} %} {%"
loop
messages | length > 2 and messages[0]['role'] == 'developer'
(messages | first).role
('a' if 1 == 1 else 'b') ~ 'c'
'a' ~ ('b' | upper)
'a' ~ 'b' | upper
-2 ** 2
{'a': {'b': 1}}.a.b
{1: 'x', none: 'y'} | length
[[1, 2], [3]][0][1]
'\\U0001f600' | length
messages[2].content[-3]
"""

BLOCKS = [
    "a\n{% if true %}\nb\n{% endif %}\nc\n",
    "  {% if true %}  x  {% endif %}  \n y",
    "a {%- if true -%} \n b {%- endif -%} \n c",
    "a\n  {%+ if true +%}\n b\n  {%- endif %}\n\nc\n\n",
    "  {{ 1 }}\n  {{- 2 -}}  \n3",
    "a {# comment #} b\n {# alone #}\nc {#- tight -#} d",
    "{# with {{ 'braces' }} #}x",
    "\r\na\r\nb\r\n",
    "x\n\n",
    "{% if messages[0].role == 'developer' %}S{% elif true %}E{% else %}O{% endif %}",
    "{% if false %}a{% elif false %}b{% else %}c{% endif %}",
    "{% for m in messages %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.first }}{{ loop.last }}{{ loop.length }};{% endfor %}",
    "{% for m in messages %}{{ loop.previtem.role }}>{{ m.role }}>{{ loop.nextitem.role }};{% endfor %}",
    "{% for m in messages if m.role != 'user' %}{{ loop.index }}{{ m.role }}{% endfor %}",
    "{% for m in messages if m.role == 'x' %}a{% else %}none{% endfor %}",
    "{% for x in [] %}a{% else %}none{% endfor %}",
    "{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for k in {'a': 1, 'b': 2} %}{{ k }}{% endfor %}",
    "{% for c in 'ab' %}{{ c }}.{% endfor %}",
    "{% for (a, b) in [[1, 2], [3, 4]] %}{{ a }}{{ b }}{% endfor %}",
    "{% for a, b in [[1, 2, 3]] %}{{ a }}{% endfor %}",
    "{% for x in missing %}a{% endfor %}",
    "{% for x in 5 %}a{% endfor %}",
    "{% for i in range(5) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}x{% break %}{% endif %}{{ i }}{% endfor %}",
    "{% for i in range(2) %}{% for j in range(3) %}{% if j == 1 %}{% break %}{% endif %}{{ i }}{{ j }}{% endfor %};{% endfor %}",
    "{% for i in range(3) %}{{ x is defined }}{% set x = i %}{{ x }}{% endfor %}{{ x is defined }}",
    "{% set ns = namespace(n=0, s='') %}{% for i in range(3) %}{% set ns.n = ns.n + i %}{% set ns.s = ns.s ~ i %}{% endfor %}{{ ns.n }}{{ ns.s }}",
    "{% set ns = namespace({'a': 1}, b=2) %}{{ ns.a }}{{ ns.b }}{{ ns.c }}",
    "{% set x = 1 %}{% if true %}{% set x = 2 %}{% endif %}{{ x }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}",
    "{% set t = 1, 2 %}{{ t | length }}",
    "{% set x %}a {{ 1 }} b{% endset %}[{{ x }}]",
    "{% set x | upper | trim %} a {% endset %}[{{ x }}]",
    "{% set x.y = 1 %}",
    "{% macro f(a, b=2) %}{{ a }}-{{ b }}{% endmacro %}{{ f(1) }}|{{ f(1, 3) }}|{{ f(b=4, a=5) }}|{{ f() }}",
    "{% macro f(a) %}x{% endmacro %}{{ f(1, 2) }}",
    "{% macro f(a) %}x{% endmacro %}{{ f(b=1) }}",
    "{% macro f(a) %}{{ varargs | length }}{{ kwargs.x }}{% endmacro %}{{ f(1, 2, 3, x=4) }}",
    "{% macro f(a, a) %}{% endmacro %}",
    "{% set g = 'global' %}{% macro f() %}{{ g }}{% endmacro %}{% for i in [1] %}{% set g = 'local' %}{{ f() }}{% endfor %}",
    "{% macro outer() %}{{ inner(1) }}{% endmacro %}{% macro inner(x) %}<{{ x }}>{% endmacro %}{{ outer() }}",
    "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}",
    "{% macro f(a, b=a ~ '!') %}{{ b }}{% endmacro %}{{ f('x') }}",
    "{% macro f(*, a) %}{% endmacro %}",
    "{% macro box(t) %}[{{ t }}:{{ caller() }}]{% endmacro %}{% call box('x') %}body{% endcall %}",
    "{% macro each(xs) %}{% for x in xs %}{{ caller(x) }};{% endfor %}{% endmacro %}{% call(x) each([1, 2]) %}<{{ x }}>{% endcall %}",
    "{% macro f() %}{{ caller is defined }}{% endmacro %}{{ f() }}",
    "{% macro f(a, b) %}{{ a }}{{ b }}{% endmacro %}{{ f(*[1, 2]) }}{{ f(**{'a': 3, 'b': 4}) }}{{ f(1, **{'b': 5}) }}",
    "{% filter upper %}a{{ 'b' }}c{% endfilter %}",
    "{% filter replace('a', 'b') | upper %}aXa{% endfilter %}",
    "{% for m in messages %}{% generation %}{{ m.role }}{% endgeneration %}{% endfor %}",
    "{%- generation -%}\n a \n{%- endgeneration -%}\n",
    "{% if true %}{% generation %}\n a {% endgeneration %}\n{% endif %}b",
    "{{ {'a': {'b': {}}} }}{{ {'c': {}}['c'] }}",
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
    "{{ bos_token }}{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 1) %}{{ raise_exception('alternate') }}{% endif %}{{ m.content | trim }}{{ eos_token }}{% endfor %}",
    "{% if tools %}T{% endif %}{% if tools is none %}N{% endif %}{% if documents is defined %}D{% endif %}",
    "{% endif %}",
    "{% if true %}",
    "{% for x in y %}{% endif %}",
    "{% if %}x{% endif %}",
    "{{ }}",
    "{{ 1 2 }}",
    "{{ (1 }}",
    "{{ [1 }}",
    "{{ 'a }}",
    "{% unknown %}",
    "{{ a.b.c() }}",
    "{{ 1 + }}",
    "{{ f(1)",
    "{# open",
    "{% set 1 = 2 %}",
    "text } }} %} #} { text",
    "{{ '}}' }}{{ \"%}\" }}",
    "{{ messages[0] }}",
    "{% set x = {'role': 'tool', 'content': 'y'} %}{{ messages + [x] | length }}",
    "{% set l = messages + [{'role': 'tool'}] %}{{ l | length }}{{ l[-1].role }}",
    "{% if messages[0]['role'] == 'developer' %}{% set loop_messages = messages[1:] %}{% set system = messages[0]['content'] %}{% endif %}{% for message in loop_messages %}{% if loop.index0 == 0 and system != false %}{{ system }}{% endif %}{{ message.role }}{% endfor %}",
    "{{ (messages | selectattr('role', 'in', ['user', 'developer']) | list)[0].role }}",
]


class Generation(Extension):
    """{% generation %}: transformers notes where its text stands and prints it unchanged."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def raise_exception(message):
    raise TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def render(template: str) -> str | None:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols]
    )
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    names = {
        "messages": MESSAGES,
        "add_generation_prompt": True,
        "bos_token": "<s>",
        "eos_token": "</s>",
        "tools": None,
        "documents": None,
    }
    try:
        return environment.from_string(template).render(**names)
    except Exception:  # whatever the reason, Jinja has no text for it
        return None


def write_jinja_fixtures(folder: Path) -> None:
    templates = ["|{{ " + line + " }}|" for line in EXPRESSIONS.strip().split("\n")] + BLOCKS
    cases = [{"template": template, "expected": render(template)} for template in templates]
    folder.mkdir(parents=True, exist_ok=True)
    fixture = {"messages": MESSAGES, "cases": cases}
    (folder / "cases.json").write_text(json.dumps(fixture, indent=1) + "\n")
    refused = sum(case["expected"] is None for case in cases)
    print(f"{folder / 'cases.json'}: {len(cases)} templates, {refused} refused by Jinja")


if __name__ == "__main__":
    write_jinja_fixtures(Path(__file__).resolve().parents[2] / "test" / "fixtures" / "jinja")
