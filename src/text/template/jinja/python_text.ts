// Values as Python prints them.

import { toValue, type Value } from './jinja_values';

/** A value as `str()` prints it. */
export function asText(value: Value): Value {
  if (value.type === 'StringValue') return value;
  return toValue(value.type === 'UndefinedValue' ? '' : shown(value));
}

/** A value as `repr()` prints it. Depth and size have been checked. */
function shown(value: Value): string {
  const inside = value.value as unknown;
  switch (value.type) {
    case 'NullValue':
      return 'None';
    case 'BooleanValue':
      return inside ? 'True' : 'False';
    case 'StringValue':
      return quoted(inside as string);
    case 'ArrayValue':
      return `[${(inside as Value[]).map(shown).join(', ')}]`;
    case 'TupleValue':
      return `(${(inside as Value[]).map(shown).join(', ')})`;
    case 'ObjectValue':
      return `{${Array.from(inside as Map<unknown, Value>, ([key, item]) => `${shown(toValue(key))}: ${shown(item)}`).join(', ')}}`;
    case 'FloatValue':
      return shownFloat(inside as number);
    default:
      return value.toString();
  }
}

function shownFloat(x: number): string {
  const [digits, power] = x.toExponential().split('e');
  if (!power) return String(x); // infinite
  if (Number(power) < -4 || Number(power) >= 16) return `${digits}e${power[0]}${power.slice(1).padStart(2, '0')}`;
  return Number.isInteger(x) ? `${x}.0` : String(x);
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': 'n', '\r': 'r', '\t': 't', '\\': '\\', "'": "'" };

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(/[\\'\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, (char) => {
    if (char === "'" && quote === '"') return char;
    const code = char.codePointAt(0)!;
    const size = code < 0x100 ? 1 : code < 0x10000 ? 2 : 4;
    return `\\${ESCAPES[char] ?? ' xu U'[size] + code.toString(16).padStart(2 * size, '0')}`;
  });
  return quote + escaped + quote;
}
