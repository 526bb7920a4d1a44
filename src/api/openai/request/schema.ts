// Checks of untrusted JSON. A value of the wrong form is an ApiError that names its field. Null counts as absent, as in
// OpenAI's interface. Fields without a check are ignored.

import { isJsonObject } from '../../../shared/json_object';
import { ApiError, invalid, unsupported } from '../http/errors';

/** Throws if a value is wrong. `param` names it as errors do, such as `messages[0].content`. */
export type Check = (value: unknown, param: string) => void;

/** A check that a value `is` such. `what` says what it must be. */
export function form(what: string, is: (value: unknown) => unknown): Check {
  return (value, param) => {
    if (!is(value)) throw invalid(param, `must be ${what}`);
  };
}

export const text = /* @__PURE__ */ form('a string', (value) => typeof value === 'string');
export const flag = /* @__PURE__ */ form('a boolean', (value) => typeof value === 'boolean');

export function number(min: number, max: number): Check {
  return form(`a number from ${min} to ${max}`, (value) => typeof value === 'number' && value >= min && value <= max);
}

export function integer(min: number, max = Number.MAX_SAFE_INTEGER): Check {
  const inRange = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max;
  return form(`an integer from ${min} to ${max}`, inRange);
}

export function word(...words: readonly string[]): Check {
  return form(`one of ${words.join(', ')}`, (value) => words.includes(value as string));
}

export function list(item: Check, min = 0, max = Number.POSITIVE_INFINITY): Check {
  const inRange = (value: unknown) => Array.isArray(value) && value.length >= min && value.length <= max;
  const isList = form(
    `an array of ${min} items or more${max < Number.POSITIVE_INFINITY ? `, up to ${max}` : ''}`,
    inRange,
  );
  return (value, param) => {
    isList(value, param);
    (value as readonly unknown[]).forEach((one, i) => void item(one, `${param}[${i}]`));
  };
}

/** An object. Fields whose name ends in `!` must be there. */
export function object(fields: Readonly<Record<string, Check>> = {}): Check {
  const isObject = form('an object', isJsonObject);
  return (value, param) => {
    isObject(value, param);
    for (const [name, check] of Object.entries(fields)) {
      const key = name.replace('!', '');
      const inner = (value as Record<string, unknown>)[key] ?? null;
      const path = param ? `${param}.${key}` : key;
      if (inner !== null) check(inner, path);
      else if (name !== key) throw new ApiError(400, `${path} is missing.`, 'missing_required_parameter', path);
    }
  };
}

/** A check for strings, and one for anything else. */
export function either(ofText: Check, ofOther: Check): Check {
  return (value, param) => (typeof value === 'string' ? ofText : ofOther)(value, param);
}

/** A field that can only have one value. */
export function only(value: unknown, why: string): Check {
  return (given, param) => {
    if (given !== value) throw unsupported(param, why);
  };
}

/**
 * Fields that cannot be done, unless their value asks for nothing. `names`: with spaces between them.
 * @param isOld no value asks for nothing, since other fields came in their place
 */
export function refuse(names: string, remedy = 'leave it out', isOld = false): Record<string, Check> {
  const check: Check = (value, param) => {
    const asksNothing = value === false || value === '' || (Array.isArray(value) && value.length === 0);
    if (isOld || !asksNothing) throw unsupported(param, remedy);
  };
  return Object.fromEntries(names.split(' ').map((name) => [name, check]));
}
