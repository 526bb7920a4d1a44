// The models that the page offers, and the one that comes with it. Pure.

export interface CatalogueModel {
  readonly id: string;
  readonly name: string;
  /** One sentence by language, English always: what it is good at. */
  readonly about: Readonly<Record<string, string>>;
  /** The model's address, as the engine and its cache know it. */
  readonly location: string;
  /** `owner/name` on the hub, or '' for a model of the page's own server. */
  readonly repository: string;
  /** True if its version can never change: a commit, or a file that comes with the page. */
  readonly isPinned: boolean;
  /** True for a model that does nothing but tell stories. */
  readonly tellsStories: boolean;
  readonly parameters: number;
  readonly downloadBytes: number;
  /** Weights that the GPU reads for each token. */
  readonly bytesPerToken: number;
  readonly kv: KvShape;
  /** Most tokens of a conversation. */
  readonly contextLength: number;
  readonly license: { readonly name: string; readonly url: string };
  /** Sentences about missing checks. Empty for a model that was checked. */
  readonly unverified: readonly string[];
}

/** The shape of keys and values. */
export interface KvShape {
  readonly layers: number;
  readonly heads: number;
  readonly headDim: number;
  /** Layers that keep the keys and values of so many tokens alone. */
  readonly windows: { readonly layers: number; readonly tokens: number } | null;
}

export interface Catalogue {
  readonly models: readonly CatalogueModel[];
  /** One sentence for each entry that was left out, or for the whole file. */
  readonly complaints: readonly string[];
}

/** The place of the list: the page's address, and its hub. */
export interface CataloguePlace {
  readonly base: string;
  readonly hub: string;
}

/** The model that comes with the page, for a page without a readable list. */
export function storyteller({ base }: Pick<CataloguePlace, 'base'>): CatalogueModel {
  return {
    id: 'storyteller',
    name: 'Storyteller',
    about: {
      en: 'A tiny model that tells bedtime stories.',
      de: 'Ein winziges Modell, das Gutenachtgeschichten auf Englisch erzählt.',
      ja: 'おやすみ前のお話を英語で語る、とても小さなモデルです。',
    },
    location: new URL('models/storyteller/storyteller-q8_0.gguf', base).href,
    repository: '',
    isPinned: true,
    tellsStories: true,
    parameters: 14_162_304,
    downloadBytes: 15_201_408,
    bytesPerToken: 15_066_624,
    kv: { layers: 8, heads: 2, headDim: 64, windows: null },
    contextLength: 1024,
    license: { name: 'Apache 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    unverified: [],
  };
}

/** The strengths of a model, in a language, or else in English. */
export function aboutOf({ about }: CatalogueModel, language: string): string {
  return (Object.hasOwn(about, language) ? about[language] : about.en) ?? '';
}
