// What the script tag asks for. Pure: the tag's data-* attributes and two addresses in, options out.

import { DEFAULT_MODEL } from '../ui/page_options';

export interface EmbedOptions {
  model: string;
  title: string;
  theme: 'auto' | 'light' | 'dark';
  position: 'bottom-right' | 'bottom-left';
  /** A system message before the conversation. */
  system: string;
  /** What the empty conversation says. */
  welcome: string;
  /** A button shows the panel of gaps between tokens. */
  metrics: boolean;
  examples: readonly string[];
}

function oneOf<T extends string>(choices: readonly T[], value: string | undefined): T {
  return choices.find((choice) => choice === value) ?? choices[0]!;
}

/** A model named in the tag is found from the page; without one, the storyteller lies beside the script. */
export function readEmbedOptions(data: DOMStringMap, scriptAddress: string, pageAddress: string): EmbedOptions {
  const model = data.model ? new URL(data.model, pageAddress) : new URL(DEFAULT_MODEL, scriptAddress);
  return {
    model: model.href,
    title: data.title || 'Vivace',
    theme: oneOf(['auto', 'light', 'dark'], data.theme),
    position: oneOf(['bottom-right', 'bottom-left'], data.position),
    system: data.system ?? '',
    welcome: data.welcome ?? '',
    metrics: data.metrics !== undefined && data.metrics !== 'false',
    examples: (data.examples ?? '')
      .split('|')
      .map((s) => s.trim())
      .filter(Boolean),
  };
}
