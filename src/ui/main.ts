// The chat page: loads the model that the address asks for and passes what the engine says from the chat to the panel.

import type { Engine, EngineEvent, EngineInfo } from '../engine/engine';
import type { Offer } from './advice';
import './chat';
import type { Tuning } from './chat_parts';
import { formatTokenRate } from './format';
import './loader';
import { ModelSession } from './model_session';
import './notices';
import { DEFAULT_MODEL, readPageOptions, writePageOptions } from './page_options';
import { connectDrawer, connectDrop } from './page_parts';
import type { LoadSettings } from './settings_fields';
import { connectThemeButton } from './theme';

/** What the page asks of the panel, which lives in another room and is known here by its name in the document alone. */
interface RunListener extends HTMLElement {
  info: EngineInfo | null;
  engine: Engine | null;
  /** The attention that the engine was loaded with. */
  asked: string;
  theme: string;
  cancelTuning(): void;
  record(event: EngineEvent): void;
  reset(): void;
  end(): void;
}

/** For models that can do more than tell stories. */
const GENERAL_EXAMPLES = [
  'Explain in three sentences why the sky is blue',
  'Write a short poem about the sea in winter',
  'Give me five names for a small bakery',
];

function byId<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

const chat = document.querySelector('vivace-chat')!;
const loader = document.querySelector('vivace-loader')!;
const panel = byId<RunListener>('metrics');
const tempo = byId('tempo');
const notices = document.querySelector('vivace-notices')!;
const asked = readPageOptions(location.search, document.baseURI);

const session = new ModelSession(asked.model, asked.load, asked.contextLength, {
  onState(state) {
    loader.state = state;
  },
  onEngine(engine) {
    chat.stop();
    chat.engine = engine;
    panel.engine = engine;
    panel.asked = session.settings.attention;
    chat.loadSettings = session.settings;
    if (engine) show(engine.info);
  },
});

function show(info: EngineInfo): void {
  panel.info = info;
  if (session.model !== new URL(DEFAULT_MODEL, document.baseURI).href) {
    chat.heading = 'What is on your mind?';
    chat.examples = GENERAL_EXAMPLES;
  }
  byId('model').textContent = [info.model.name, info.adapter ?? info.backend].join(' · ');
  notices.show(info.warnings);
  if (!info.hasChatTemplate) {
    const message =
      'This model has no chat template: it goes on with each message as a text, and forgets the one before.';
    notices.show([{ code: 'no-chat-template', message }]);
  }
}

/** The page's address asks for what the model is loaded with, so that it can be opened again and shared. */
function keepInAddress(): void {
  const query = writePageOptions(location.search, session.settings);
  history.replaceState(null, '', location.pathname + query + location.hash);
}

function openFiles(files: File[]): void {
  if (files.length === 0) return;
  session.model = files.length === 1 ? files[0]! : files;
  notices.clear();
  void session.load();
}

chat.addEventListener('vivace-run', () => panel.reset());
chat.addEventListener('vivace-end', () => panel.end());
chat.addEventListener('vivace-event', (event) => {
  const detail = (event as CustomEvent<EngineEvent>).detail;
  panel.record(detail);
  if (detail.type === 'warning') notices.show([{ code: detail.code, message: detail.message }]);
  if (detail.type === 'done' && detail.metrics.decodeTokensPerSecond !== null) {
    tempo.hidden = false;
    tempo.textContent = `♩ = ${formatTokenRate(detail.metrics.decodeTokensPerSecond)}`;
  }
});
chat.addEventListener('vivace-reload', (event) => {
  session.settings = (event as CustomEvent<LoadSettings>).detail;
  keepInAddress();
  void session.load();
});
panel.addEventListener('vivace-tuning', (event) => {
  chat.tuning = (event as CustomEvent<Tuning | null>).detail;
});
chat.addEventListener('vivace-cancel-tuning', () => panel.cancelTuning());
loader.addEventListener('vivace-cancel-load', () => session.cancel());
loader.addEventListener('vivace-load-offer', (event) => {
  session.take((event as CustomEvent<Offer>).detail);
  keepInAddress();
});
byId<HTMLInputElement>('file').addEventListener('change', (event) =>
  openFiles([...((event.target as HTMLInputElement).files ?? [])]),
);
chat.addEventListener('vivace-open', (event) => openFiles((event as CustomEvent<File[]>).detail));

connectThemeButton(byId<HTMLButtonElement>('theme'), (theme) => {
  panel.theme = theme;
});
connectDrawer(byId('panel'), byId('timing'), byId('close-panel'));
connectDrop(document.body, openFiles);
// On touch screens a focused field would open the keyboard over the page.
if (matchMedia('(hover: hover)').matches) chat.updateComplete.then(() => chat.focus());
notices.show(asked.complaints.map((message) => ({ code: 'address', message })));
void session.load();
