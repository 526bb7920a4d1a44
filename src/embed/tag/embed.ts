// The script tag: one classic script that puts a chat with a model on any page, and gives the page's scripts a handle.
// <script src="embed.js" data-model data-hub data-sha256 data-title data-lang data-theme data-position data-system
//   data-welcome data-examples="a | b" data-placeholder data-footer data-icon data-settings data-thinking data-panel
//   data-open data-remember data-share data-server data-server-model data-server-rule data-worker></script>, and the
//   load settings by name (docs/api.md).
// The script also defines the elements <vivace-chat model="..."> and <vivace-metrics for="...">.

import {
  type ChatMessage,
  type EngineChatOptions,
  type EngineEvent,
  type EngineLoadOptions,
  modelLocation,
  VivaceError,
} from '../../engine/engine';
import { VivaceChat } from '../../ui/chat/chat';
import '../../ui/chat/chat_dialogs';
import { giveModels } from '../elements/elements';
import { addPanelScript } from '../fetch/panel_script';
import { askLanguage } from '../fetch/shared_texts';
import { showLanguage } from '../fetch/translations';
import { VERSION } from '../session/engine_pool';
import { leavable } from '../session/leavable';
import { readEmbedOptions } from './options';
import '../fetch/parts_beside';
import { Widget, type WidgetEvents } from './widget';

/** The page's handle on a script tag's chat. Calls before the page has a body wait for the body. */
export interface VivaceHandle {
  readonly version: string;
  open(): void;
  close(): void;
  /**
   * Loads the tag's model or another model without opening the window.
   * @throws VivaceError with a `code`; DOMException AbortError after an abort
   */
  load(model?: string, options?: EngineLoadOptions | null): Promise<void>;
  /**
   * Answers a conversation, or one question after the tag's system message, without showing either, with the options
   * of `Engine.chat`. Loads the model first if necessary.
   * @throws VivaceError with a `code`
   */
  chat(
    asked: readonly ChatMessage[] | string,
    options?: EngineChatOptions | null,
  ): AsyncGenerator<EngineEvent, void, undefined>;
  /** Calls `listener` on every later event of this name. The returned function removes the listener. */
  on<K extends keyof WidgetEvents>(name: K, listener: (detail: WidgetEvents[K]) => void): () => void;
  /**
   * Gives the key of the server in `data-server`. `source` is asked after the visitor's consent, each time that the
   * chat connects; the key is kept nowhere. A key in a page is a key in its readers' hands: give each their own.
   */
  useServerKey(source: () => string | Promise<string>): void;
  /** Deletes the conversation, shown and kept by `data-remember`, for example when a user of the site signs out. */
  forget(): Promise<void>;
  /** Removes the chat from the page and releases the model. A kept conversation stays. */
  destroy(): Promise<void>;
}

declare global {
  interface Window {
    /** The handle of the first tag on the page. */
    Vivace?: VivaceHandle;
  }
  interface HTMLScriptElement {
    /** The handle of this tag. */
    vivace?: VivaceHandle;
  }
}

function whenBody(): Promise<void> {
  return new Promise((resolve) => {
    if (document.body) resolve();
    else document.addEventListener('DOMContentLoaded', () => resolve(), { once: true });
  });
}

function start(script: HTMLScriptElement): VivaceHandle {
  const { options, complaints } = readEmbedOptions(script.dataset, script.src || document.baseURI, document.baseURI);
  for (const complaint of complaints) console.warn(`Vivace: ${complaint}`);
  askLanguage(options, options.lang);
  const widget = whenBody().then(() => new Widget(options));
  let ended: Promise<void> | null = null;
  const alive = async (): Promise<Widget> => {
    if (ended) throw new VivaceError('invalid-request', 'This chat was destroyed. Add the script tag again.');
    return widget;
  };
  const handle: VivaceHandle = {
    version: VERSION,
    open: () => void widget.then((w) => w.open()),
    close: () => void widget.then((w) => w.close()),
    async load(model, loadOptions) {
      await (await alive()).load(
        model && (modelLocation(model, document.baseURI, loadOptions?.hubUrl) ?? model),
        loadOptions,
      );
    },
    chat: (asked, generateOptions) =>
      leavable(async function* ({ hold }) {
        yield* hold((await alive()).ask(asked, generateOptions));
      }),
    on(name, listener) {
      const over = new AbortController();
      void widget.then((w) => {
        if (!over.signal.aborted) over.signal.addEventListener('abort', w.on(name, listener));
      });
      return () => over.abort();
    },
    useServerKey: (source) =>
      void widget.then((w) => {
        w.key = source;
      }),
    forget: async () => (await alive()).forget(),
    destroy() {
      if (window.Vivace === handle) delete window.Vivace;
      delete script.vivace;
      ended ??= widget.then((w) => w.destroy());
      return ended;
    },
  };
  return handle;
}

/** Loads the panel's script at once if the page holds a panel. */
function addPanels(): void {
  if (document.querySelector('vivace-metrics')) addPanelScript((message) => console.warn(`Vivace: ${message}`));
}

giveModels(VivaceChat, (by, asked) => {
  askLanguage(by, asked);
  return showLanguage();
});
if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', addPanels, { once: true });
else addPanels();

const script = document.currentScript;
if (script instanceof HTMLScriptElement) {
  script.vivace = start(script);
  window.Vivace ??= script.vivace;
} else console.error('Vivace: load embed.js with a plain <script src> tag, without type="module".');
