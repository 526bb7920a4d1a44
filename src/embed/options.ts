// The options of the script tag. Pure: the tag's data-* attributes and two addresses in, options and complaints out.

import { HUB, modelLocation } from '../engine/engine';
import { canFetch } from '../shared/can_fetch';
import { DEFAULT_MODEL } from '../ui/model/page_options';
import { LOAD_FIELDS, type LoadSettings, readLoadSettings, type Thinking } from '../ui/settings/settings_fields';
import { languageOf } from '../words/language';
import { findMisspelled } from './misspelled';
import { type EmbedServer, readEmbedServer } from './server/server_part';

const THINKING = ['on', 'off'] as const satisfies readonly Thinking[];
/** The settings of a visitor: none, the sampling of answers, or the system message and the engine, too. */
const SETTINGS = ['off', 'sampling', 'all'] as const;
const THEMES = ['auto', 'light', 'dark'] as const;
/** `none`: no button, the page opens the window itself. */
const POSITIONS = ['bottom-right', 'bottom-left', 'none'] as const;

/** The attributes that a tag and an element share. */
export const ATTRIBUTES = [
  'model',
  'hub',
  'sha256',
  'worker',
  'server',
  'server-model',
  'server-rule',
  'share',
  'theme',
  'lang',
  'examples',
  ...LOAD_FIELDS.map(({ name }) => name),
];

/** The model of a tag or an element, with its load options. */
export interface EmbedModel {
  /** Absolute address. */
  model: string;
  /** SHA-256 of the model's file in hex. Only the engine checks its form. */
  sha256: string | undefined;
  load: LoadSettings;
  /** All tabs of the site have one engine. */
  share?: boolean;
  /** Absolute address of vivace_worker.js on the page's own origin, for pages that forbid workers from a blob. */
  worker: string | undefined;
  /** The server that answers instead of the model, or beside it. */
  server?: EmbedServer | null;
}

/** True if the storyteller answers, and no server in its place or beside it. */
export const tellsStories = ({ model, server }: Pick<EmbedModel, 'model' | 'server'>): boolean =>
  !server && model.endsWith(DEFAULT_MODEL.slice(DEFAULT_MODEL.lastIndexOf('/')));

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

/** The location of a model or of a hub's repository, or undefined, with a complaint if the text is illegal. */
export function readModel({ model, hub }: DOMStringMap, base: string, complaints: string[]): string | undefined {
  if (!model) return undefined;
  const found = modelLocation(model, base, readAddress('hub', hub, base, complaints) ?? HUB);
  if (found === null) complaints.push(`model="${model}" is no repository and no address on the web; it is left out.`);
  return found ?? undefined;
}

/** The load settings of attributes with this prefix. An empty attribute counts as absent. */
export function readLoad(
  find: (name: string) => string | null | undefined,
  prefix: string,
  complaints: string[],
): LoadSettings {
  return readLoadSettings(
    (name) => find(name) || null,
    (name, value, legal) => complaints.push(`${prefix}${name}="${value}" is none of ${legal}; it is left out.`),
  );
}

/** The language of a tag, or null, with a complaint if there are no texts in it. */
export function readLanguage(tag: string | null | undefined, complaints: string[]): string | null {
  if (!tag) return null;
  if (languageOf(tag)) return tag;
  complaints.push(`lang="${tag}" has no texts here; the browser's language is shown instead.`);
  return null;
}

/** The name of a kept conversation: `chat` for a bare attribute. Null where nothing is to be kept. */
function readName(value: string | undefined, complaints: string[]): string | null {
  if (value === undefined || value === 'false') return null;
  if (value === '' || value === 'true') return 'chat';
  if (/^[\w-]{1,40}$/.test(value)) return value;
  complaints.push(`data-remember="${value}" is no name (40 letters, digits, - and _ at most); it is left out.`);
  return null;
}

/** The questions of an attribute, separated by bars. */
export function splitExamples(value: string | null | undefined): string[] {
  return (value ?? '')
    .split('|')
    .map((example) => example.trim())
    .filter(Boolean);
}

/** The absolute address, or undefined, with a complaint if the text is no address that can be fetched. */
export function readAddress(name: string, value: string | null | undefined, base: string, complaints: string[]) {
  if (!value) return undefined;
  const url = URL.canParse(value, base) ? new URL(value, base) : null;
  if (url && canFetch(url, base)) return url.href;
  complaints.push(`${name}="${value}" is no address on the web (http, https, blob); it is left out.`);
  return undefined;
}
