// Reads the fields of an untrusted JSON object. A field of the wrong type is an ApiError that names it. Null counts as
// absent, as in OpenAI's interface.

import { isJsonObject, type JsonObject } from '../shared/json_object';
import { ApiError, unsupported } from './openai_errors';

function nameType(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}

export class Fields {
  private constructor(
    readonly json: JsonObject,
    private readonly path: string,
  ) {}

  /** @param path of the value in the request; empty for its body */
  static of(value: unknown, path = ''): Fields {
    if (isJsonObject(value)) return new Fields(value, path);
    throw wrongType(path || null, 'an object', value);
  }

  /** The name of a field as errors give it, such as `messages[0].content`. */
  param(key: string): string {
    return this.path ? `${this.path}.${key}` : key;
  }

  has(key: string): boolean {
    return this.json[key] != null;
  }

  /** A value of a type, or undefined. */
  private read<T>(key: string, what: string, is: (value: unknown) => value is T): T | undefined {
    const value = this.json[key] ?? undefined;
    if (value === undefined || is(value)) return value;
    throw wrongType(this.param(key), what, value);
  }

  text(key: string): string | undefined {
    return this.read(key, 'a string', (value) => typeof value === 'string');
  }

  flag(key: string): boolean | undefined {
    return this.read(key, 'a boolean', (value) => typeof value === 'boolean');
  }

  list(key: string): readonly unknown[] | undefined {
    return this.read(key, 'an array', (value) => Array.isArray(value));
  }

  object(key: string): Fields | undefined {
    return this.has(key) ? Fields.of(this.json[key], this.param(key)) : undefined;
  }

  /** The objects of a list. */
  objects(key: string): readonly Fields[] | undefined {
    return this.list(key)?.map((item, i) => Fields.of(item, `${this.param(key)}[${i}]`));
  }

  number(key: string, min = -Infinity, max = Infinity): number | undefined {
    const value = this.read(key, 'a number', (value) => typeof value === 'number');
    if (value === undefined || (Number.isFinite(value) && value >= min && value <= max)) return value;
    throw this.wrong(key, `must be a number from ${min} to ${max}, not ${value}`);
  }

  integer(key: string, min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER): number | undefined {
    const value = this.number(key, min, max);
    if (value === undefined || Number.isInteger(value)) return value;
    throw this.wrong(key, `must be an integer, not ${value}`);
  }

  /** One of several words. */
  word<const Word extends string>(key: string, words: readonly Word[]): Word | undefined {
    const value = this.text(key);
    const word = words.find((word) => word === value);
    if (value === undefined || word !== undefined) return word;
    throw this.wrong(key, `must be one of ${words.join(', ')}`);
  }

  /** A value that must be there. */
  need<T>(key: string, value: T | undefined): T {
    if (value !== undefined) return value;
    throw new ApiError(400, `${this.param(key)} is missing.`, 'missing_required_parameter', this.param(key));
  }

  wrong(key: string, why: string): ApiError {
    return new ApiError(400, `${this.param(key)} ${why}.`, 'invalid_value', this.param(key));
  }

  unsupported(key: string, why: string): ApiError {
    return unsupported(this.param(key), why);
  }
}

function wrongType(param: string | null, what: string, value: unknown): ApiError {
  return new ApiError(400, `${param ?? 'The body'} must be ${what}, not ${nameType(value)}.`, 'invalid_type', param);
}
