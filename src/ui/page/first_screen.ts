// The first screen and the names of models: tells the list of models what happens on the page, and gives heading,
// examples, placeholder and names to the parts that show them.

import {
  type ChatEngine,
  type Engine,
  type EngineEvent,
  engineHere,
  type ModelLocation,
  type Roofline,
} from '../../engine/engine';
import { onLanguage } from '../../words/language';
import { pageWords } from '../../words/page_words';
import type { Offers } from '../catalogue/offers';
import '../catalogue/welcome';
import type { VivaceChat } from '../chat/chat';
import type { Panel } from '../chat/connect_panel';
import type { LoadState, VivaceLoader } from '../model/loader';
import { showAddress } from '../model/model_address';
import type { ModelSession } from '../model/model_session';
import type { VivaceModels } from '../model/models';

interface Parts {
  readonly chat: VivaceChat;
  readonly loader: VivaceLoader;
  readonly models: VivaceModels;
  readonly panel: Panel;
  readonly session: ModelSession;
  readonly offers: Offers;
}

export class FirstScreen {
  private readonly welcome = document.querySelector('vivace-welcome');
  private isLoading = false;
  /** Whether the first load has ended, and whether the list of downloaded models was read during it. */
  private hasEnded = false;
  private hasReadKept = false;

  constructor(private readonly parts: Parts) {
    const { chat, models, panel, offers } = parts;
    models.offers = offers;
    const next = document.querySelector('vivace-next-step');
    // At once, but after the first paint: later the page sends no request by itself.
    void import('../catalogue/next_step').then(() => {
      if (next) next.offers = offers;
    });
    chat.addEventListener('vivace-event', (event) => this.hear((event as CustomEvent<EngineEvent>).detail));
    panel.addEventListener('vivace-roofline', (event) =>
      offers.noteRoofline((event as CustomEvent<Roofline | null>).detail),
    );
    offers.onChange(() => this.show());
    onLanguage(() => this.show());
    this.show();
  }

  onState(state: LoadState): void {
    const { session, offers } = this.parts;
    this.isLoading = state.kind === 'loading';
    if (this.welcome) this.welcome.waits = state.kind !== 'ready';
    if (state.kind === 'failed' && state.code === 'gpu-memory' && offers.loading)
      offers.noteRefused(offers.loading.location);
    const { loadedBytes = 0, totalBytes = 0, stage } = (state.kind === 'loading' && state.progress) || {};
    const loading = this.isLoading ? { location: session.model, loadedBytes, totalBytes } : null;
    offers.show({ loading, running: session.running });
    // The first reading comes before the first model is ready: after that the page sends no request by itself.
    const isFirst = !this.hasReadKept && stage === 'weights';
    if (isFirst || (this.hasEnded && !this.isLoading)) void offers.readKept();
    this.hasReadKept ||= isFirst;
    this.hasEnded ||= !this.isLoading;
  }

  onEngine(engine: ChatEngine | null): void {
    const { models, offers, session } = this.parts;
    models.engine = engineHere(engine);
    if (engine && engine.info.backend !== 'remote') offers.noteLoaded(engine.info);
    offers.show({ running: session.running });
  }

  /** Shows what there is now. */
  show(): void {
    const { chat, loader, offers } = this.parts;
    const { engine } = chat;
    const isFar = engine?.info.backend === 'remote';
    const model = isFar ? null : offers.find(this.location);
    chat.tellsStories = model?.tellsStories ?? false;
    chat.examples = chat.tellsStories ? null : pageWords().catalogue.examples;
    chat.modelName = model?.name ?? '';
    loader.name = (this.isLoading ? offers.find(this.parts.session.model) : model)?.name ?? '';
    if (this.welcome) {
      this.welcome.model = model;
      this.welcome.name = model || !engine ? '' : this.name;
    }
    this.nameModel(engine);
  }

  /** Names the running model in the header, or else the one that loads. What it runs on stands in the title. */
  private nameModel(engine: ChatEngine | null): void {
    const button = document.getElementById('model');
    const label = document.getElementById('model-name');
    if (!button || !label) return;
    const text = pageWords().header;
    let name = text.choose;
    if (engine) name = [this.name, stateOf(engine)].filter(Boolean).join(' · ');
    else if (this.isLoading) name = text.loading(this.name);
    label.textContent = name;
    button.hidden = false;
    const runsOn = engine ? ` · ${engine.info.adapter ?? engine.info.backend}` : '';
    button.title = engine || this.isLoading ? text.chooseOther(`${name}${runsOn}`) : name;
  }

  /** The model that runs, or else the one that loads. */
  private get location(): ModelLocation {
    return this.parts.session.running ?? this.parts.session.model;
  }

  private get name(): string {
    const { offers, chat } = this.parts;
    if (chat.engine?.info.backend === 'remote') return chat.engine.info.model.name;
    return offers.find(this.location)?.name ?? chat.engine?.info.model.name ?? nameOf(this.location);
  }

  private hear(event: EngineEvent): void {
    const { chat, session, offers } = this.parts;
    if (event.type !== 'done' || !chat.engine || event.metrics.network) return;
    offers.noteAnswer(session.running, chat.engine.info, event.metrics.decodeTokensPerSecond);
  }
}

/** The state of an engine that does not answer, or ''. */
function stateOf({ health }: Pick<Engine, 'health'>): string {
  if (health.state === 'well' || health.state === 'without-gpu') return '';
  return health.state === 'recovering' ? pageWords().header.recovering : pageWords().header.lost;
}

function nameOf(model: ModelLocation): string {
  if (typeof model === 'string')
    return showAddress(model, document.baseURI).split('/').at(-1) || pageWords().header.aModel;
  return model instanceof File ? model.name : pageWords().header.files;
}
