// The fields of the settings dialog, made from the table of options, and their values. Pure.

import { legalValues, readValue } from '../../engine/option_values';
import {
  type ChoiceOption,
  LOAD_ATTRIBUTES,
  LOAD_SETTINGS,
  type NumberOption,
  type Options,
  SAMPLING_SETTINGS,
  type Value,
} from '../../engine/options';

/** The values of settings by key. Null: the engine chooses. */
type Values<T> = { -readonly [K in keyof T]: Value<T[K]> | (T[K] extends { default: unknown } ? never : null) };

export interface SamplingSettings extends Values<typeof SAMPLING_SETTINGS> {}
/** The switch of thinking, for chat templates that have one. */
export type Thinking = 'on' | 'off';

export interface LoadSettings extends Values<typeof LOAD_ATTRIBUTES> {}
export interface DialogSettings extends Values<typeof LOAD_SETTINGS> {}

interface Keyed<S> {
  key: keyof S & string;
  /** The name in addresses and attributes. */
  name: string;
  /** The default. Null: the engine chooses. */
  standard: S[keyof S];
}

export type NumberField<S> = NumberOption & Keyed<S>;
export type ChoiceField<S> = ChoiceOption & Keyed<S>;

function fieldsOf<S>(table: Options): (NumberField<S> | ChoiceField<S>)[] {
  return Object.entries(table).map(
    ([key, option]) =>
      ({ ...option, key, name: option.name ?? key, standard: option.default ?? null }) as
        | NumberField<S>
        | ChoiceField<S>,
  );
}

export type SamplingField = NumberField<SamplingSettings>;
type LoadField = NumberField<LoadSettings> | ChoiceField<LoadSettings>;
export type DialogField = NumberField<DialogSettings> | ChoiceField<DialogSettings>;

export const SAMPLING_FIELDS = fieldsOf(SAMPLING_SETTINGS) as readonly SamplingField[];
/** The load settings of an address and of attributes. */
export const LOAD_FIELDS: readonly LoadField[] = fieldsOf(LOAD_ATTRIBUTES);

/** The load fields that the dialog shows. */
export const DIALOG_FIELDS: readonly DialogField[] = fieldsOf(LOAD_SETTINGS);

function standards<S>(fields: readonly Keyed<S>[]): S {
  return Object.fromEntries(fields.map(({ key, standard }) => [key, standard])) as S;
}

export const STANDARD_LOAD = standards<LoadSettings>(LOAD_FIELDS);

export function standardSampling(): SamplingSettings {
  return standards(SAMPLING_FIELDS);
}

/** Minimum, maximum and step of a field. */
export function stepsOf<S>({ slider, min, max }: NumberField<S>) {
  return slider ?? ([min, max ?? Number.MAX_SAFE_INTEGER, 1] as const);
}

/** The typed number, clamped to the field's range. The default for any other text. */
export function readNumber<S>(field: NumberField<S>, text: string): number | null {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? inRange(field, value) : (field.standard as number | null);
}

/** The nearest legal value of the field. */
export function inRange<S>(field: NumberField<S>, value: number): number {
  const [min, max] = stepsOf(field);
  const near = Math.min(max, Math.max(min, value));
  return field.kind === 'integer' ? Math.round(near) : near;
}

/**
 * The load settings of an address or of attributes, found by name. An illegal value is left out and passed to `refuse`
 * with the legal values in words.
 */
export function readLoadSettings(
  find: (name: string) => string | null | undefined,
  refuse: (name: string, value: string, legal: string) => void,
): LoadSettings {
  const settings = { ...STANDARD_LOAD };
  for (const field of LOAD_FIELDS) {
    const { key, name } = field;
    const text = find(name);
    if (text === null || text === undefined) continue;
    const value = readValue(field, text);
    if (value === undefined) refuse(name, text, legalValues(field));
    else Object.assign(settings, { [key]: value });
  }
  return settings;
}

type Chosen<S> = { [K in keyof S]?: Exclude<S[K], null> };

/** The settings as options of the engine, without the nulls. */
export function toOptions<S extends object>(settings: S): Chosen<S> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null)) as Chosen<S>;
}
