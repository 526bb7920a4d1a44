"""Features of the chat template language: snippets with their renderings by Jinja in Python, set up as in transformers.

test/fixtures/tokenizer/templates.json holds {messages, cases: [[source, expected]]}. Needs `jinja2`.
"""
import json
from pathlib import Path

from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment

MESSAGES = [
    {"role": "user", "content": "U"},
    {"role": "assistant", "content": "A"},
    {"role": "user", "content": "V"},
]

SNIPPETS = [
    # White space of Python and of JavaScript: U+FEFF stays, U+0085 and the separators U+001C to U+001F go.
    "{% for text in ['\ufeff a \ufeff', '\x85\x1c a\u3000\x1f', '\u200b\xa0a'] %}{{ text.strip() }}|{{ text | trim }}|{{ text.lstrip() }}|{{ text.rstrip() }}|{{ ' ' ~ text | trim(' ') }};{% endfor %}{{ 'xax' | trim('x') }}{{ 'xax' | trim(chars='x') }}{{ ' a ' | trim(none) }}{{ none | trim }}{{ 12 | trim('1') }}{{ ' a '.strip(none) }}|",
    "{{ '\\n\\n  x \\n'.strip('\\n') }}|{{ 'xyaxy'.strip('yx') }}|{{ 'xyaxy'.lstrip('x') }}|{{ 'xyaxy'.rstrip('y') }}|{{ ' a '.strip() }}|{{ 'aa'.strip('a') }}|{{ '🙂a🙂'.strip('🙂') }}",
    "{% set t = messages[0].content ~ '--' %}{{ t.rstrip('-').rstrip('U') }}{{ t.strip() }}{{ t.strip('-') }}",
    "{% set ns = namespace(n=0, last='') %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% set ns.last = m.role %}{% endfor %}{{ ns.n }}{{ ns.last }}",
    "{% macro turn(role, text='none') %}<{{ role }}>{{ text | trim }}{% endmacro %}{{ turn('a', ' b ') }}{{ turn('c') }}{{ turn(role='d', text='e') }}",
    "{% for m in messages[1:] %}{{ loop.index }}{{ loop.index0 }}{{ 'f' if loop.first }}{{ 'l' if loop.last }}{{ loop.length }}{{ loop.revindex }};{% endfor %}",
    "{% for m in messages %}{% if loop.previtem is defined and loop.previtem.role != m.role %}|{% endif %}{{ m.role }}{% if loop.nextitem is defined %},{% endif %}{% endfor %}",
    "{{ messages[::-1] | map(attribute='role') | join('-') }}{{ messages[-1]['content'] }}{{ 'abcdef'[1:-1] }}{{ 'abc'[::-1] }}",
    "{{ {'a': [1, 2.5, true, none], 'ü': 'q\"<'} | tojson }}{{ [1, {'b': 2}] | tojson(indent=2) }}",
    "{% set d = {'x': 1, 'y': 2} %}{% for k, v in d.items() %}{{ k }}={{ v }} {% endfor %}{{ d.get('x') }}{{ d.get('z', 'none') }}{{ d.keys() | join('+') }}{{ d.values() | list }}",
    "{% for k, v in {'b': 1, 'a': 2} | dictsort %}{{ k }}{{ v }}{% endfor %}{% for k, v in {'b': 1} | items %}{{ k }}{{ v }}{% endfor %}",
    "{{ 'y' if tools is none else 'n' }}{{ 'y' if tools is defined else 'n' }}{{ 'y' if nothing is defined else 'n' }}{{ 'y' if nothing is undefined else 'n' }}{{ 'y' if 'a' is string else 'n' }}{{ 'y' if 1 is number else 'n' }}{{ 'y' if [] is iterable else 'n' }}{{ 'y' if {} is mapping else 'n' }}{{ 'y' if 3 is odd else 'n' }}{{ 'y' if true is true else 'n' }}{{ 'y' if 1 is integer else 'n' }}{{ 'y' if [1] is sequence else 'n' }}",
    "{% if tools %}T{% elif documents %}D{% else %}E{% endif %}{{ 'y' if messages else 'n' }}{{ 'only' if false }}",
    "{{ '  a b '.strip() }}{{ 'xxaxx'.strip('x') }}{{ 'a,b,c'.split(',') | join('+') }}{{ 'a b  c'.split() | join('+') }}{{ 'y' if 'abc'.startswith('ab') }}{{ 'y' if 'abc'.endswith('d') }}{{ 'Ab'.upper() }}{{ 'Ab'.lower() }}{{ 'a b'.title() }}{{ 'aXbX'.replace('X', '-') }}{{ '--a'.lstrip('-') }}{{ 'a\n'.rstrip('\n') }}",
    "{{ 'think</think>answer'.split('</think>')[-1] }}{{ 'think</think>answer'.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') }}",
    "{{ messages | selectattr('role', 'equalto', 'user') | list | length }}{{ messages | rejectattr('role', 'equalto', 'user') | map(attribute='content') | join('+') }}{{ (messages | selectattr('role', 'equalto', 'user') | first).content }}",
    "{{ [3, 1, 2] | sort }}{{ [1, 2, 3] | last }}{{ [1, 1, 2] | unique | join }}{{ [1, 2, 3] | reverse | list }}",
    "{{ 7 // 2 }} {{ 7 % 2 }} {{ 7 / 2 }} {{ 2 * 3 }} {{ -1 }} {{ 1.0 }} {{ 'a' ~ 1 }}",
    "{{ 'y' if 'a' in 'abc' else 'n' }}{{ 'y' if 'a' not in ['b'] else 'n' }}{{ 'y' if 'k' in {'k': 1} }}{{ 'y' if not true else 'n' }}{{ 'y' if 1 < 2 else 'n' }}{{ 'y' if 1 == 1.0 else 'n' }}{{ 'y' if 'a' != 'b' else 'n' }}{{ 'y' if true and false or true else 'n' }}",
    "{% set x %}block {{ 1 }}{% endset %}{{ x | upper }}{% set a, b = [1, 2] %}{{ a }}{{ b }}",
    "{% for i in range(5) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}",
    "{% for m in messages if m.role == 'user' %}{{ m.content }}{% else %}none{% endfor %}{% for m in [] %}x{% else %}empty{% endfor %}",
    "{{ 'a' | default('b') }}{{ nothing | default('b') }}{{ '' | default('c', true) }}{{ none | default('d', boolean=true) }}",
    "{{ 'hello world' | capitalize }}{{ 'hello' | length }}{{ 'a-b' | replace('-', '+') }}{{ ' x ' | trim }}{{ 'A' | lower }}{{ '5' | int + 1 }}{{ 3.7 | int }}{{ '2.5' | float }}{{ 5 | string }}{{ -3 | abs }}",
    "  {% if true %}\n    text\n  {% endif %}\n  {%- for i in [1, 2] -%}\n  {{ i }}\n  {%- endfor %}\nend",
    "{# comment #}a{#- trimmed -#} b {{- ' c' -}} d",
    "{% filter upper %}abc{% endfilter %}",
    "{% macro m() %}({{ caller() }}){% endmacro %}{% call m() %}in{% endcall %}",
    "{{ 'x' | indent(2) }}{{ 'a\nb' | indent(2) }}{{ 'a\nb' | indent(2, true) }}{{ 'a\nb' | indent(width=3, first=false) }}",
    "{% generation %}g{% endgeneration %}",
    "{% set l = ['a'] %}{% set l = l + ['b'] %}{{ l | join('+') }}",
    "{% for t in messages[0].tool_calls %}x{% else %}none{% endfor %}{% for t in nothing if t %}x{% endfor %}",
    "{{ '<think{}>'.format(':a') }}{{ '{1}{0}{1}'.format('a', 2) }}{{ '{x}-{}-{{}}'.format(true, x=none) }}{{ '{}'.format(2.0) }}{{ 'plain'.format() }}",
    "{% set d = {0: 'a', 512: 'b', 16: 'c'} %}{{ d[16] }}{{ d.get(512) }}{{ d.get(1, 'no') }}{{ 'y' if 0 in d else 'n' }}{{ 'y' if 1 not in d else 'n' }}{{ 'y' if d[1] is defined else 'n' }}{% for k, v in d | dictsort %}{{ k + 1 }}{{ v }}{% endfor %}{% for k in d %}{{ k * 2 }},{% endfor %}{% for k, v in d.items() %}{{ k // 2 }}{{ v }}{% endfor %}{% for k, v in d | items %}{{ k }}{{ v }}{% endfor %}{{ d | tojson }}{{ [d] | tojson }}{{ d | length }}{{ d.keys() | list | length }}",
    "{{ none | selectattr('type', 'equalto', 'x') | list | length }}{{ nothing | rejectattr('a') | list | length }}{{ none | map(attribute='a') | join('+') }}{{ nothing | map(attribute='a') | list | length }}",
    "{{ nothing | length }}{{ nothing | list | length }}[{{ nothing | join(',') }}][{{ nothing | trim }}][{{ nothing | upper }}][{{ nothing | replace('a', 'b') }}][{{ nothing | string }}]{% for k, v in nothing | items %}x{% endfor %}[{{ nothing | first }}]",
    "{{ '🙂a🙂b' | length }}{{ '🙂a'[1] }}{{ 'a🙂'[-1] }}{{ '🙂a🙂b'[1:3] }}{{ [1, 2] | count }}{{ 'abc' | count }}",
    "{{ 'y' if messages[0].content is string and messages[0].content else 'n' }}{{ 'y' if messages[0].tool_calls is defined else 'n' }}{{ 'y' if messages[0]['tool_calls'] is not none else 'n' }}",
    "{{ [1, 2, 3] | sum }}|{{ [1.5, 1.5] | sum }}|{{ [{'n': 1}, {'n': 4}] | sum(attribute='n') }}|{{ [] | sum }}",
    "{{ 'abc'.find('c') }}|{{ 'abc'.find('x') }}|{{ 'abcab'.find('a', 1) }}|{{ 'abcab'.find('a', -2) }}|{{ '🙂a🙂b'.find('b') }}",
    "{{ 'a\nb\r\nc\n'.splitlines() | join('|') }}|{{ 'a\n\nb\r'.splitlines() | length }}|{{ ''.splitlines() | length }}|{{ '\n'.splitlines() | length }}|{{ messages[0].content.splitlines()[0] }}",
    "{{ 'x' ~ none }}|{{ none ~ true }}|{{ 'x' ~ nothing ~ 1.0 ~ 2 }}|{{ 'x' ~ false }}",
    "{{ none }}|{{ true }}|{{ nothing }}|{{ none | string }}|{{ false | string }}|{% if true %}{{ none }}{% endif %}{% for x in [none] %}{{ x }}{% else %}{{ true }}{% endfor %}{% macro m() %}{{ false }}{% endmacro %}{{ m() }}{% set x %}{{ none }}{% endset %}{{ x }}",
    "{{ [1, 2.5, 'a', none, true, ['b'], {'c': none, 'd': 'e'}] }}|{{ {} }}{{ [] }}{{ (1, 'a') }}|{{ messages[0] }}|{{ {'t': ['string', 'null']}.t | string }}|{{ 'x' ~ ['y'] ~ {'z': 1} }}",
    "{{ [\"it's\", 'q\"', '\\'\"', 'a\\n\\t\\\\b', 'é🙂\u0007\u00a0\u200b\u2028'] }}{{ {\"it's\": 1} }}",
    "a\r\n{% if true %}\r\nb\rc{% endif %}\r\n\r\n",
    "{{ [none, true, 1.0, 'x', 2, ['a']] | join(',') }}|{{ ['string', 'null'] | upper }}|{{ 5 | trim }}|{{ none | lower }}|{{ ['a'] in ['a', 1] }}{{ ['a'] in [['b'], ['a']] }}{{ ['a'] not in ('a', 'b') }}{{ {'a': 1} in [{'a': 1}] }}{{ 2 in [1, 2] }}{{ none in [none] }}{{ nothing in ['a'] }}",
    "{% set map = {'string': 'str'} %}{{ map[nothing] is defined }}{{ map[messages[0].type] is defined }}{{ map[none] is defined }}{{ map[['string']] is defined }}{{ [1][nothing] is defined }}{{ 'a'[nothing] is defined }}{{ map['string'] }}{{ nothing is iterable }}{{ nothing is not sequence }}{{ messages[0].type is iterable }}{{ none is iterable }}{{ 1 is not iterable }}",
    "{% for i in [1, 2, 3] %}a{{ i }}{% if i == 1 %}{% continue %}{% endif %}b{% if i == 2 %}c{% break %}{% endif %}d{% endfor %}|{% for i in [1] %}{% continue %}x{% else %}none{% endfor %}|{% for i in [1, 2] %}{% for j in [1, 2] %}{{ j }}{% if j == i %}!{% break %}{% endif %}{% endfor %}{{ loop.index }}{% endfor %}",
    "{% for i in [1, 2, 3] %}{% if i == 1 %}{% set x = 'first' %}{% endif %}{{ x | default('none') }}{% endfor %}{{ x is defined }}{% set y = 1 %}{% for i in [1, 2] %}{{ y }}{% set y = i + 5 %}{{ y }}{% endfor %}{{ y }}",
    "{% for k, v in [['a', 1], ['b', 2]] if v > 1 %}{{ k }}{{ loop.length }}{{ loop.first }}{% endfor %}{% for m in messages if m.role == 'user' %}{{ loop.index }}{{ loop.previtem.content if loop.previtem is defined }}{% endfor %}",
    "{{ [3, 1.5, 2] | min }}|{{ [3, 1, 2] | max }}|{{ ['b', 'A', 'a'] | min }}|{{ ['A', 'b', 'B'] | max }}|{{ [] | min is defined }}{{ nothing | max is defined }}|{{ ['b', 'A', 'a'] | max(case_sensitive=true) }}|{{ messages | max(attribute='content') }}|{{ messages | map(attribute='role') | list | min }}|{{ (2, 1) | min }}",
    "{{ {'a': [1]} == {'a': [1]} }}{{ {'a': 1} == {'a': 2} }}{{ {'a': 1} == {'b': 1} }}{{ {'a': 1, 'b': 2} == {'b': 2, 'a': 1} }}{{ {'a': 1} != {'a': 1} }}{{ [1, [2]] == [1, [2.0]] }}{{ [1] == [1, 2] }}{{ (1, 2) == [1, 2] }}{{ [] == '' }}{{ [1] == '1' }}|{{ 1 == '1' }}{{ 0 == '' }}{{ false == '' }}{{ true == 1 }}{{ false != 0.0 }}{{ none == nothing }}{{ none == none }}{{ nothing == messages[0].type }}{{ none == false }}|{{ 1 in [true] }}{{ '1' in [1] }}{{ 0 in ['', none] }}{{ messages[0] == messages[2] }}{{ messages[0] in messages }}{% set ns = namespace(a=1) %}{{ ns == ns }}{{ ns == namespace(a=1) }}",
    "{% set map = {'items': 1, 'get': 2, 'keys': 3, 'values': 4, 'other': 5} %}{% for key, value in map.items() %}{{ key }}{{ value }}{% endfor %}{{ map.get('get') }}{{ map.get('none', 'x') }}{{ map['items'] }}{{ map['get'] }}{{ map.keys() | list }}{{ map.values() | list }}{{ map.other }}{{ 'items' in map }}{% for key, value in map | items %}{{ key }}{% endfor %}{% set ns = namespace(items=7) %}{{ ns.items }}",
    "{% for a, b in [('x', 1), ['y', 2], ('z', (3, 4))] %}{{ a }}{{ b }}{{ loop.length }}{% endfor %}{% for a, b in nothing %}{{ a }}{% else %}none{% endfor %}{% for a, b in {'k': 1}.items() %}{{ a }}{{ b }}{% endfor %}{% for pair in [('x', 1)] %}{{ pair }}{% endfor %}",
    "{{ ['string', 'null'] | map('upper') | list }}|{{ [1, none, 'x'] | map('string') | join(',') }}|{{ ['a-b', 'c'] | map('replace', '-', '+') | join }}|{{ [[3, 1], [2]] | map('max') | list }}|{{ [{'a': 1}] | map('tojson') | list }}|{{ [[1, 2], []] | map('join', '-') | list }}|{{ ['a', nothing] | map('default', 'd') | list }}|{{ nothing | map('upper') | list }}|{{ (' x ', 'y') | map('trim') | list }}",
    "{{ '  ' * 2 ~ '|' }}{{ 2 * 'ab' }}{{ 'a' * 0 }}{{ 'a' * -1 }}|{{ 3 * 2 }}{{ 1.5 * 2 }}{{ 1 <= 2 }}{{ 2 >= 3 }}{{ 2 < 3 }}",
]


class Generation(Extension):
    """{% generation %} marks the model's own text and prints it unchanged."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("show"), [], [], body).set_lineno(line)

    def show(self, caller):
        return caller()


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def main():
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = to_json
    names = {"messages": MESSAGES, "tools": None, "documents": None, "add_generation_prompt": True}
    cases = [[source, environment.from_string(source).render(**names)] for source in SNIPPETS]
    path = Path(__file__).parents[2] / "test" / "fixtures" / "tokenizer" / "templates.json"
    path.write_text(json.dumps({"messages": MESSAGES, "cases": cases}, ensure_ascii=False, indent=1) + "\n", "utf-8")
    print(path, len(cases))


if __name__ == "__main__":
    main()
