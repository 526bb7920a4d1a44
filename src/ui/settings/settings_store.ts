// The last sampling settings, system prompt and switch of thinking, kept between visits where the browser allows
// storage. Stored values are checked when they are read.

import { inRange, SAMPLING_FIELDS, type SamplingSettings, standardSampling, type Thinking } from './settings_fields';

export interface Remembered {
  sampling: SamplingSettings;
  system: string;
  thinking: Thinking;
}

const KEY = 'vivace-settings';
const MAX_LETTERS = 100_000;
/** Most letters of a stored text: a letter of the prompt takes up to six. */
const MAX_STORED = 7 * MAX_LETTERS;

/** Parses a stored text. Missing and illegal parts get their defaults. */
export function parseRemembered(text: string | null): Remembered {
  const remembered: Remembered = { sampling: standardSampling(), system: '', thinking: 'on' };
  const stored = parseObject(text);
  const sampling = Object(stored.sampling) as Record<string, unknown>;
  for (const field of SAMPLING_FIELDS) {
    const value = sampling[field.key];
    if (Number.isFinite(value)) remembered.sampling[field.key] = inRange(field, value as number);
  }
  const { system } = stored;
  if (typeof system === 'string' && system.length <= MAX_LETTERS) remembered.system = system;
  if (stored.thinking === 'off') remembered.thinking = 'off';
  return remembered;
}

function parseObject(text: string | null): Record<string, unknown> {
  if (text === null || text.length > MAX_STORED) return {};
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

export function readRemembered(): Remembered {
  try {
    return parseRemembered(localStorage.getItem(KEY));
  } catch {
    return parseRemembered(null); // the browser refuses storage, for example in a cross-site frame
  }
}

/** Stores the values that differ from the defaults. */
export function writeRemembered({ sampling, system, thinking }: Remembered): void {
  const changed = SAMPLING_FIELDS.filter(({ key, standard }) => sampling[key] !== standard);
  try {
    if (changed.length === 0 && system === '' && thinking === 'on') {
      localStorage.removeItem(KEY);
      return;
    }
    const chosen = Object.fromEntries(changed.map(({ key }) => [key, sampling[key]]));
    localStorage.setItem(KEY, JSON.stringify({ sampling: chosen, system: system.slice(0, MAX_LETTERS), thinking }));
  } catch {
    // Without storage the settings last as long as the page.
  }
}
