// The script tag: one classic script that puts a chat with a model on any page, and a handle for that page's own scripts.
// <script src="embed.js" data-model data-title data-theme data-position data-system data-welcome data-examples="a | b" data-metrics></script>

import { readEmbedOptions } from './options';
import { Widget, type WidgetEvents } from './widget';

export interface VivaceHandle {
  open(): void;
  close(): void;
  /** Takes the chat off the page and frees the model. */
  destroy(): void;
  on<K extends keyof WidgetEvents>(name: K, listener: (detail: WidgetEvents[K]) => void): () => void;
}

declare global {
  interface Window {
    Vivace?: VivaceHandle;
  }
}

/** Calls that come before the page has a body wait for it. */
function start(script: HTMLScriptElement): VivaceHandle {
  const options = readEmbedOptions(script.dataset, script.src || document.baseURI, document.baseURI);
  const widget = new Promise<Widget>((resolve) => {
    const make = () => resolve(new Widget(options));
    if (document.body) make();
    else document.addEventListener('DOMContentLoaded', make, { once: true });
  });
  const handle: VivaceHandle = {
    open: () => void widget.then((w) => w.open()),
    close: () => void widget.then((w) => w.close()),
    destroy() {
      if (window.Vivace === handle) delete window.Vivace;
      void widget.then((w) => w.destroy());
    },
    on(name, listener) {
      let end: (() => void) | null = null;
      let isEnded = false;
      void widget.then((w) => {
        if (!isEnded) end = w.on(name, listener);
      });
      return () => {
        isEnded = true;
        end?.();
      };
    },
  };
  return handle;
}

const script = document.currentScript;
if (window.Vivace) console.warn('Vivace is on this page already; the second script tag is left alone.');
else if (script instanceof HTMLScriptElement) window.Vivace = start(script);
else console.error('Vivace: load embed.js with a plain <script src> tag, without type="module".');
