// The chat page: loads the model that the address names, and wires the parts of the page together (chat, panel,
// conversations, models).

import type { ChatEngine, EngineEvent, EngineInfo, ModelLocation } from '../../engine/engine';
import type { Offer } from '../shared/advice';
import '../attach/attach_button';
import '../chat/chat';
import type { ModelOffer } from '../catalogue/catalogue_list';
import { Offers } from '../catalogue/offers';
import type { GrownEvent, KeepEvent } from '../chat/chat_session';
import { connectPanel, type Panel } from '../chat/connect_panel';
import { type Conversation, newConversation } from '../conversation/conversation_tree';
import { connectHistory, conversationIn, followInAddress } from './conversation_address';
import { Drawer } from './drawer';
import { connectDrop, filesOf } from './dropped_files';
import '../library/library';
import { provideParts } from '../markdown/parts';
import '../markdown/parts_by_import';
import type { LoadState } from '../model/loader';
import '../model/loader';
import { ModelSession } from '../model/model_session';
import type { ChosenModel } from '../model/models';
import { openAlone, openShared } from '../model/open_model';
import '../model/notices';
import { pageWords } from '../../words/page_words';
import { hubOf, mayBeListed, readPageOptions, writePageOptions } from '../model/page_options';
import type { LoadSettings } from '../settings/settings_fields';
import { comesLater } from '../shared/comes_later';
import { FirstScreen } from './first_screen';
import { connectLanguage } from './language';
import type { PageServer } from './page_server';
import { connectSearchKeys } from './search_keys';
import { SidePanel } from './side_panel';
import { TempoMark } from './tempo_mark';
import { connectThemeButton } from './theme';

provideParts({ json: () => import('../markdown/json_view') }); // the page alone shows trees

/** The work after the first paint. */
const pageParts = comesLater(async () => {
  const { parts } = await import('./page_parts');
  parts.takeLongPastes(chat);
  return parts;
});

await connectLanguage(location.search);

function byId<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

const chat = document.querySelector('vivace-chat')!;
const library = document.querySelector('vivace-library')!;
const loader = document.querySelector('vivace-loader')!;
const models = document.querySelector('vivace-models')!;
const panel = byId<Panel>('metrics');
const tempo = new TempoMark(byId('mark'), byId('tempo'));
const notices = document.querySelector('vivace-notices')!;
const query = new URLSearchParams(location.search);
const place = { base: document.baseURI, hub: hubOf(location.search, document.baseURI) };
const offers = new Offers(place, query.get('backend') !== 'cpu');
const reading = offers.read();
if (mayBeListed(location.search)) await reading;
const asked = readPageOptions(location.search, document.baseURI, offers.models);

const session = new ModelSession(
  asked.model,
  asked.load,
  {
    onState(state) {
      showLoad(state);
      server?.onState(state);
    },
    onEngine(engine) {
      if (server) server.onLocal(engine);
      else use(engine);
    },
  },
  asked.shares ? openShared : openAlone,
);

/** The server that answers beside the model or instead of it, once one was asked for. */
let server: PageServer | null = null;
let serverPart: Promise<PageServer> | null = null;

function servers(): Promise<PageServer> {
  serverPart ??= import('./page_server')
    .then((part) => {
      const page = { chat, models, session, loadState: loader.state, show: showLoad, use, showModels };
      server = new part.PageServer({ ...page, say: (warning) => notices.say(warning), rename: () => first.show() });
      return server;
    })
    .catch((error: unknown) => {
      serverPart = null; // the next click asks again
      throw error;
    });
  return serverPart;
}

/** A part of the page that the reader waits for, or null after a notice that it did not come. */
function awaited<T>(part: Promise<T>): Promise<T | null> {
  return part.catch(() => {
    notices.say({ code: 'page-part', message: pageWords().frame.missing });
    return null;
  });
}

function showLoad(state: LoadState): void {
  loader.state = state;
  first.onState(state);
}

/** Gives the chat its engine. @param stops whether an answer under way ends */
function use(engine: ChatEngine | null, stops = true): void {
  if (stops) chat.stop();
  if (chat.engine) notices.clear(); // they are about the model that goes
  chat.engine = engine;
  chat.loadSettings = session.settings;
  offers.show({ kvType: session.settings.kvCache });
  if (engine) show(engine.info);
  first.onEngine(engine);
}

/** The address for the record of a run: without a query, which may hold a secret. */
function addressOf(model: ModelLocation | null): string | null {
  return typeof model === 'string' ? model.replace(/[?#].*$/, '') : null;
}

function show(info: EngineInfo): void {
  panel.address = addressOf(session.running);
  notices.show(info.warnings);
  if (!info.hasChatTemplate && !info.embeddings.only) {
    notices.show([{ code: 'no-chat-template', message: pageWords().header.noTemplate }]);
  }
}

const first = new FirstScreen({ chat, loader, models, panel, session, offers });

/** Writes model and options into the page's address, so that it can be opened again and shared. */
function keepInAddress(): void {
  const { search } = location;
  const options = writePageOptions(search, session.settings, session.model, document.baseURI, offers.models);
  history.replaceState(null, '', location.pathname + options + location.hash);
}

async function openModel(model: ModelLocation, asks = false): Promise<void> {
  session.model = model;
  keepInAddress();
  await session.load(asks);
  keepInAddress(); // after a failed load the model from before still runs
}

/** Asks the server of the address; the page's own model where that may not be. */
async function openServer(): Promise<void> {
  const opens = await (await awaited(servers()))?.openAsked(location.search);
  if (!opens) await session.load();
}

/** Shows the panel. */
function showPanel(): void {
  if (byId('timing').ariaExpanded !== 'true') byId('timing').click();
}

/** Imports exports, loads a model, attaches texts to the next question, or complains about any other files. */
async function openFiles(files: readonly File[], attaches = false): Promise<void> {
  const parts = await awaited(pageParts());
  if (!parts) return;
  const found = await parts.kindOf(files, attaches);
  if (found.kind === 'conversations') return library.import(found.files);
  if (found.kind === 'runs') {
    showPanel();
    return panel.importRuns?.(found.files);
  }
  if (found.kind === 'texts' && attaches) return chat.attach(found.files);
  if (found.kind === 'model') return openModel(found.files.length === 1 ? found.files[0] : found.files);
  notices.say({ code: 'no-model', message: found.complaint });
}

/** Opens the dialog of models, as soon as it is here. */
async function showModels(): Promise<void> {
  if (!(await awaited(pageParts()))) return;
  await models.updateComplete; // its first picture
  models.show();
}

/** Shows a conversation. `replaces`: in the place of the one before it in the browser's history. */
function openConversation(conversation: Conversation, replaces = false): void {
  chat.conversation = conversation;
  library.current = conversation.id;
  followInAddress(conversation, replaces);
}

function sayUnknown(): void {
  notices.say({ code: 'unknown-conversation', message: pageWords().library.unknown });
}

/** Opens the conversation that the address names, or else the newest. */
async function openFirst(): Promise<void> {
  const id = conversationIn(location.hash);
  const named = id && (await library.find(id));
  const conversation = named || (await library.openNewest());
  if (id && !named) sayUnknown();
  // A reader who has already written goes on with that conversation.
  if (chat.conversation.turns.length === 0) openConversation(conversation ?? chat.conversation, true);
}

chat.readFiles = async (...files) =>
  (await awaited(pageParts()))?.readFiles(...files) ?? { attachments: [], complaints: [] };
connectPanel(chat, panel);
chat.addEventListener('vivace-event', (event) => {
  const detail = (event as CustomEvent<EngineEvent>).detail;
  if (detail.type === 'warning') notices.show([detail]);
  tempo.hear(detail);
});
chat.addEventListener('vivace-end', () => tempo.rest());
chat.addEventListener('vivace-health', () => {
  first.show();
  // A model that loads again may have others. Of a missing GPU the chat itself tells.
  if (chat.engine?.health.state === 'well') notices.show(chat.engine.info.warnings);
});
chat.addEventListener('vivace-open-run', showPanel);
chat.addEventListener('vivace-reload', (event) => {
  session.settings = (event as CustomEvent<LoadSettings>).detail;
  void openModel(session.model);
});
chat.addEventListener('vivace-changed', (event) => {
  const { detail: conversation, isQuestion, waitsFor } = event as KeepEvent;
  library.current = conversation.id;
  library.keep(conversation);
  followInAddress(conversation);
  if (isQuestion) waitsFor.push(library.keepNow());
});
chat.addEventListener('vivace-writing', (event) => {
  const { id, turn } = (event as GrownEvent).detail;
  library.keepGrown(id, turn);
});
for (const part of [loader, models]) part.addEventListener('vivace-cancel-load', () => session.cancel());
loader.addEventListener('vivace-load-offer', (event) => {
  const taken = session.take((event as CustomEvent<Offer>).detail);
  keepInAddress();
  void taken.then(keepInAddress);
});
for (const id of ['model', 'other-model']) byId(id).addEventListener('click', () => void showModels());
byId('next').addEventListener('vivace-all-models', () => void showModels());
byId('next').addEventListener('vivace-offer', (event) => {
  void openModel((event as CustomEvent<ModelOffer>).detail.location);
});
models.addEventListener('vivace-use-server', () => void awaited(servers()).then((part) => part?.focus()));
models.addEventListener('vivace-model', (event) => {
  const { location, asks } = (event as CustomEvent<ChosenModel>).detail;
  void (typeof location === 'string' ? openModel(location, asks) : openFiles(location));
});

/** A part of the page that is a drawer in narrow windows. */
function drawerOf(part: string, opener: string, narrow: MediaQueryList): Drawer {
  const [drawer, closer, scrim] = [byId(part), byId(`close-${part}`), byId('scrim')];
  return new Drawer({ drawer, opener: byId(opener), closer, scrim, narrow });
}

/** As in page.css. */
const narrow = matchMedia('(max-width: 959px)');
const shelf = drawerOf('shelf', 'conversations', narrow);
byId('conversations').addEventListener('click', () => shelf.toggle());
library.addEventListener('vivace-open-conversation', (event) => {
  openConversation((event as CustomEvent<Conversation>).detail);
  shelf.close();
});
library.addEventListener('vivace-new-conversation', (event) => {
  const isDeleted = (event as CustomEvent<string | undefined>).detail === 'deleted';
  openConversation(newConversation(chat.system), isDeleted); // there is no way back to a deleted one
  shelf.close();
  chat.focus();
});
library.addEventListener('vivace-close-library', () => shelf.close());
library.addEventListener('vivace-show-turn', (event) => void chat.showTurn((event as CustomEvent<string>).detail));
library.addEventListener('vivace-title', (event) => {
  const title = (event as CustomEvent<string>).detail;
  document.title = title ? `${title} – Vivace` : 'Vivace';
});
connectHistory({
  current: () => chat.conversation,
  find: (id) => library.find(id),
  open: openConversation,
  openFresh: () => openConversation(newConversation(chat.system)),
  onUnknown: sayUnknown,
  onMove: keepInAddress, // the entry may name a model of long ago
});
connectSearchKeys(() => {
  shelf.openIfNarrow();
  library.search();
});

connectThemeButton(byId<HTMLButtonElement>('theme'), (theme) => {
  panel.theme = theme;
});
new SidePanel({
  place: document.querySelector('main')!,
  opener: byId('timing'),
  edge: byId('edge'),
  drawer: drawerOf('panel', 'timing', narrow),
  narrow,
});
document.body.addEventListener('dragenter', () => {
  byId('drop').textContent = pageWords().drop.hint;
});
connectDrop(document.body, (dropped) => {
  void filesOf(dropped).then((files) => openFiles(files, true));
});
// On touch screens a focused field would open the keyboard over the page.
if (matchMedia('(hover: hover)').matches) chat.updateComplete.then(() => chat.focus());
notices.show(asked.complaints);
if (query.has('server')) void openServer();
else void session.load();
// After the first paint, beside the load of the model.
requestAnimationFrame(() =>
  setTimeout(async () => {
    const parts = await pageParts().catch(() => null); // without them the next opening makes the page work offline
    parts?.printConversation(chat);
    void parts?.openOffline(() => notices.say({ code: 'new-version', message: pageWords().offline.newVersion }));
  }),
);
void openFirst();
