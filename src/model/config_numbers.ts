import { UnsupportedModelError } from '../errors';

/** Reads numbers that a file claims: typed, in range, or an error that names the key and the value. */
export class ConfigReader {
  constructor(
    private readonly where: string,
    private readonly get: (key: string) => unknown,
  ) {}

  /** A whole number from 1 to `max`. */
  count(key: string, max: number, fallback?: number): number {
    const value = this.number(key, fallback);
    if (!Number.isInteger(value) || value < 1 || value > max) {
      throw this.refuse(key, value, `a whole number from 1 to ${max}`);
    }
    return value;
  }

  /** A finite number above zero. */
  positive(key: string, fallback?: number): number {
    const value = this.number(key, fallback);
    if (!Number.isFinite(value) || value <= 0) throw this.refuse(key, value, 'a number above 0');
    return value;
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

  /** The keys of an object under `key`, or null when there is none. */
  inner(key: string): ConfigReader | null {
    const value = this.get(key);
    if (value === undefined || value === null) return null;
    if (typeof value !== 'object' || Array.isArray(value)) throw this.refuse(key, value, 'an object');
    const entries = new Map(Object.entries(value));
    return new ConfigReader(`${this.where}: ${key}`, (name) => entries.get(name));
  }

  private number(key: string, fallback?: number): number {
    const value = this.get(key) ?? fallback;
    if (value === undefined) throw new UnsupportedModelError(`${this.where} lacks ${key}.`);
    if (typeof value !== 'number' && typeof value !== 'bigint') throw this.refuse(key, value, 'a number');
    return Number(value);
  }

  private refuse(key: string, value: unknown, wanted: string): UnsupportedModelError {
    const shown = typeof value === 'object' ? 'a structure' : String(value).slice(0, 80);
    return new UnsupportedModelError(`${this.where}: ${key} must be ${wanted}, but is ${shown}.`);
  }
}

/** Bounds that no model of this kind comes near; past them a file is wrong or hostile. */
export const MAX = {
  vocab: 2 ** 21,
  hidden: 2 ** 17,
  intermediate: 2 ** 19,
  layers: 1024,
  heads: 1024,
  headDim: 1024,
  context: 2 ** 24,
} as const;
