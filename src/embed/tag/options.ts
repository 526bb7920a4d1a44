// The options of the script tag. Pure: the tag's data-* attributes and two addresses in, options and complaints out.

import { DEFAULT_MODEL } from '../../ui/model/page_options';
import type { Thinking } from '../../ui/settings/settings_fields';
import { readEmbedServer } from '../server/server_part';
import {
  ATTRIBUTES,
  type EmbedModel,
  readAddress,
  readLanguage,
  readLoad,
  readModel,
  splitExamples,
} from '../shared/attributes';
import { findMisspelled } from '../shared/misspelled';

const THINKING = ['on', 'off'] as const satisfies readonly Thinking[];
/** The settings of a visitor: none, the sampling of answers, or the system message and the engine, too. */
const SETTINGS = ['off', 'sampling', 'all'] as const;
const THEMES = ['auto', 'light', 'dark'] as const;
/** `none`: no button, the page opens the window itself. */
const POSITIONS = ['bottom-right', 'bottom-left', 'none'] as const;

export interface EmbedOptions extends EmbedModel {
  title: string;
  /** The tag of the language asked for, or null: the browser's. */
  lang: string | null;
  theme: (typeof THEMES)[number];
  /** Null: the bottom corner where the page's lines end, right or left. */
  position: (typeof POSITIONS)[number] | null;
  /** A system message before the conversation. */
  system: string;
  /** The text of the empty conversation. */
  welcome: string;
  /** The text of the field in which a visitor writes, or '' for the usual one. */
  placeholder: string;
  /** A line of text below the chat, or ''. */
  footer: string;
  /** Address of the picture on the round button, or undefined for the usual one. */
  icon: string | undefined;
  settings: (typeof SETTINGS)[number];
  /** Shows the times of an answer under it. */
  figures: boolean;
  /** Questions that the empty conversation offers. */
  examples: readonly string[];
  /** The switch of thinking at the start, for models that have one. */
  thinking: Thinking;
  /** The name under which this browser keeps the conversation for the site, or null: it lasts as long as the page. */
  remember: string | null;
  /** Adds a button for the TBT panel. */
  panel: boolean;
  /** Opens the window at the start. */
  open: boolean;
}

export interface ReadOptions {
  options: EmbedOptions;
  /** One sentence for each illegal or misspelled attribute. */
  complaints: string[];
}

/**
 * The options of a tag. Its model is an address relative to the page, or a repository (owner/repo) of the hub in
 * data-hub, by default the public hub. A tag without a model gets the storyteller beside the script.
 */
export function readEmbedOptions(data: DOMStringMap, scriptAddress: string, pageAddress: string): ReadOptions {
  const complaints: string[] = [];
  const find = (name: string) => data[datasetKey(name)];
  const oneOf = <T extends string>(name: string, choices: readonly T[]): T | null => {
    const value = data[name];
    const found = choices.find((choice) => choice === value);
    if (value && !found) complaints.push(`data-${name}="${value}" is none of ${choices.join(', ')}; it is left out.`);
    return found ?? null;
  };
  const flag = (name: string): boolean => {
    const value = data[name];
    if (value && value !== 'true' && value !== 'false') {
      complaints.push(`data-${name}="${value}" is none of true, false; it counts as true.`);
    }
    return value !== undefined && value !== 'false';
  };
  const panel = flag('panel');
  const remember = readName(data.remember, complaints);
  const settings = oneOf('settings', SETTINGS) ?? (panel ? 'all' : 'sampling');
  const options: EmbedOptions = {
    model: readModel(data, pageAddress, complaints) ?? new URL(DEFAULT_MODEL, scriptAddress).href,
    sha256: data.sha256,
    load: readLoad(find, 'data-', complaints),
    title: data.title || 'Vivace',
    lang: readLanguage(data.lang, complaints),
    theme: oneOf('theme', THEMES) ?? 'auto',
    position: oneOf('position', POSITIONS),
    system: data.system ?? '',
    welcome: data.welcome ?? '',
    placeholder: data.placeholder ?? '',
    footer: data.footer ?? '',
    icon: readAddress('icon', data.icon, pageAddress, complaints),
    settings,
    figures: data.figures === undefined ? settings === 'all' : flag('figures'),
    examples: splitExamples(data.examples),
    thinking: oneOf('thinking', THINKING) ?? 'on',
    remember,
    panel,
    worker: readAddress('worker', data.worker, pageAddress, complaints),
    server: readEmbedServer(find, 'data-', remember !== null, complaints),
    share: flag('share') || undefined,
    open: flag('open'),
  };
  const { load, ...own } = options;
  findMisspelled(Object.keys(data).map(attributeName), [...ATTRIBUTES, ...Object.keys(own)], 'data-', complaints);
  return { options, complaints };
}

/** The key in `dataset` of an attribute's name without `data-`. */
const datasetKey = (name: string): string => name.replace(/-./g, ([, letter]) => letter.toUpperCase());

/** The name without `data-` of an attribute's key in `dataset`. */
const attributeName = (key: string): string => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The name of a kept conversation: `chat` for a bare attribute. Null where nothing is to be kept. */
function readName(value: string | undefined, complaints: string[]): string | null {
  if (value === undefined || value === 'false') return null;
  if (value === '' || value === 'true') return 'chat';
  if (/^[\w-]{1,40}$/.test(value)) return value;
  complaints.push(`data-remember="${value}" is no name (40 letters, digits, - and _ at most); it is left out.`);
  return null;
}
