// A checked reader of configuration values.

import { UnsupportedModelError } from '../../errors';

/** Reads typed values within their ranges, or throws an error that names the key and the value. */
export class ConfigReader {
  constructor(
    private readonly where: string,
    private readonly find: (key: string) => unknown,
    /** Prefix of every key. */
    private readonly prefix = '',
  ) {}

  /** A whole number from 1 to `max`. */
  count(key: string, max: number, fallback?: number): number {
    return this.integer(key, 1, max, fallback);
  }

  /** A whole number from 0 to `max`. */
  whole(key: string, max: number, fallback?: number): number {
    return this.integer(key, 0, max, fallback);
  }

  /** A finite number above zero. */
  positive(key: string, fallback?: number): number {
    const value = this.number(key, fallback);
    if (!Number.isFinite(value) || value <= 0) throw this.refuse(key, value, 'a number above 0');
    return value;
  }

  /** A whole number from 1 to `max`, or null if the key is missing or null. */
  optionalCount(key: string, max: number): number | null {
    return this.has(key) ? this.count(key, max) : null;
  }

  /** A finite number above zero, or null if the key is missing or null. */
  optionalPositive(key: string): number | null {
    return this.has(key) ? this.positive(key) : null;
  }

  flag(key: string, fallback: boolean): boolean {
    const value = this.get(key) ?? fallback;
    if (typeof value !== 'boolean') throw this.refuse(key, value, 'true or false');
    return value;
  }

  text(key: string): string | null {
    const value = this.get(key);
    if (value === undefined || value === null) return null;
    if (typeof value !== 'string') throw this.refuse(key, value, 'text');
    return value;
  }

  /** A reader of the object under `key`, or null if there is none. */
  inner(key: string): ConfigReader | null {
    const value = this.get(key);
    if (value === undefined || value === null) return null;
    if (typeof value !== 'object' || Array.isArray(value)) throw this.refuse(key, value, 'an object');
    const entries = new Map(Object.entries(value));
    return new ConfigReader(`${this.where}: ${this.prefix}${key}`, (name) => entries.get(name));
  }

  /**
   * A list of `length` values that all pass `isRight`, or null if there is none. `wanted` describes the values in
   * errors.
   */
  list<T extends string | number | boolean>(
    key: string,
    length: number,
    wanted: string,
    isRight: (value: unknown) => value is T,
  ): T[] | null {
    if (!this.has(key)) return null;
    const values = this.get(key);
    if (!Array.isArray(values) || values.length !== length || !values.every(isRight)) {
      const found = Array.isArray(values) ? `a list of ${values.length}` : values;
      throw this.refuse(key, found, `a list of ${length} ${wanted}`);
    }
    return values;
  }

  private get(key: string): unknown {
    return this.find(this.prefix + key);
  }

  isList(key: string): boolean {
    return Array.isArray(this.get(key));
  }

  has(key: string): boolean {
    const value = this.get(key);
    return value !== undefined && value !== null;
  }

  private integer(key: string, min: number, max: number, fallback?: number): number {
    const value = this.number(key, fallback);
    if (!Number.isInteger(value) || value < min || value > max) {
      throw this.refuse(key, value, `a whole number from ${min} to ${max}`);
    }
    return value;
  }

  private number(key: string, fallback?: number): number {
    const value = this.get(key) ?? fallback;
    if (value === undefined || value === null)
      throw new UnsupportedModelError(`${this.where} lacks ${this.prefix}${key}.`);
    if (typeof value !== 'number' && typeof value !== 'bigint') throw this.refuse(key, value, 'a number');
    return Number(value);
  }

  private refuse(key: string, value: unknown, wanted: string): UnsupportedModelError {
    const shown = typeof value === 'object' ? 'a structure' : String(value).slice(0, 80);
    return new UnsupportedModelError(`${this.where}: ${this.prefix}${key} must be ${wanted}, but is ${shown}.`);
  }
}

/** Bounds that no real model comes near. Beyond them a file is wrong or hostile. */
export const MAX = {
  vocab: 2 ** 20, // and of the sums in shaders/sampling
  hidden: 2 ** 17,
  intermediate: 2 ** 19,
  layers: 1024,
  heads: 1024,
  headDim: 1024,
  context: 2 ** 24,
} as const;
