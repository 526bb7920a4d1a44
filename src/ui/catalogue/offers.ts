// What the page offers: the list of models, what is known of this machine, and which models are here, running or on
// their way. Elements listen and render it; the page tells it what happens. It loads no model.

import {
  type CachedModel,
  type EngineInfo,
  listCachedModels,
  type ModelLocation,
  type Roofline,
} from '../../engine/engine';
import type { KvType } from '../../shared/kv_rows';
import type { Knowledge } from './knowledge';
import { type Catalogue, type CatalogueModel, type CataloguePlace, storyteller } from './list/catalogue';
import type { Experience } from './machine/experience';
import type { Inspected, Machine } from './machine/machine';

/** A load under way. */
export interface Loading {
  readonly location: ModelLocation;
  readonly loadedBytes: number;
  /** 0 while unknown. */
  readonly totalBytes: number;
}

/** The browser's facts. Tests pass their own. */
export interface OfferSources {
  readonly catalogue: (place: CataloguePlace) => Promise<Catalogue>;
  readonly machine: () => Promise<Inspected>;
  readonly kept: () => Promise<CachedModel[]>;
}

export class Offers {
  models: readonly CatalogueModel[];
  complaints: readonly string[] = [];
  /** Null until the browser was asked. */
  inspected: Inspected | null = null;
  /** The type of keys and values that the reader has chosen. */
  kvType: KvType = 'f16';
  seen: Experience = { adapter: '', readGBps: null, grantedBytes: 0, refusedBytes: null, rates: {} };
  /** Null until the list of downloaded models was read. */
  kept: readonly CachedModel[] | null = null;
  running: ModelLocation | null = null;
  loading: Loading | null = null;
  private readonly listeners = new Set<() => void>();
  /** Null until it has come. */
  private knowledge: Knowledge | null = null;

  constructor(
    private readonly place: CataloguePlace,
    private readonly usesGpu: boolean,
    private readonly sources: Partial<OfferSources> = {},
  ) {
    this.models = [storyteller(place)];
  }

  /** Reads the list and asks for the machine. Without its part, the page offers what it has. */
  async read(): Promise<void> {
    const known = await import('./knowledge').then(({ knowledge }) => knowledge).catch(() => null);
    if (!known) return;
    const { catalogue = known.readCatalogue, machine: inspect = () => known.inspectMachine(this.usesGpu) } =
      this.sources;
    const [{ models, complaints }, inspected] = await Promise.all([catalogue(this.place), inspect()]);
    this.knowledge = known;
    Object.assign(this, { models, complaints, inspected, seen: known.readExperience(inspected.name) });
    this.tell();
  }

  /** Reads the list of downloaded models anew. */
  async readKept(): Promise<void> {
    const { kept = listCachedModels } = this.sources;
    this.kept = await kept().catch(() => []);
    this.tell();
  }

  /** Null until the browser was asked. */
  get machine(): Machine | null {
    return this.inspected && { ...this.inspected, kvType: this.kvType };
  }

  /** The model of the list at an address. */
  find(location: ModelLocation | null): CatalogueModel | null {
    return this.models.find((model) => model.location === location) ?? null;
  }

  /** The model to recommend here, once the machine is known. */
  get recommended(): CatalogueModel | null {
    return (this.machine && this.knowledge?.recommend(this.models, this.machine, this.seen)) ?? null;
  }

  show(state: Partial<Pick<Offers, 'running' | 'loading' | 'kvType'>>): void {
    Object.assign(this, state);
    this.tell();
  }

  /** A model has loaded: as much memory as it has can be had. */
  noteLoaded(info: EngineInfo): void {
    const { gpuBytes } = info;
    if (!gpuBytes || !this.isHere(info)) return;
    const bytes = gpuBytes.weights + gpuBytes.kvCache + gpuBytes.activations;
    this.learn(({ withGranted }) => withGranted(this.seen, bytes));
  }

  /** A model did not get its memory. */
  noteRefused(location: ModelLocation): void {
    const model = this.find(location);
    const { machine } = this;
    if (model && machine) this.learn(({ withRefused, needOf }) => withRefused(this.seen, needOf(model, machine)));
  }

  /** An answer has ended. */
  noteAnswer(location: ModelLocation | null, info: EngineInfo, tokensPerSecond: number | null): void {
    if (typeof location !== 'string' || !tokensPerSecond || !this.isHere(info)) return;
    const bytesPerToken = info.bytesPerToken?.weights ?? 4 * info.model.parameters;
    this.learn(({ withRate }) => withRate(this.seen, location, { tokensPerSecond, bytesPerToken }));
  }

  /** The speed of this GPU's memory was measured. */
  noteRoofline(roofline: Roofline | null): void {
    if (roofline) this.learn(() => ({ ...this.seen, readGBps: roofline.readGBps }));
  }

  /** Calls `listener` after each change. Returns a function that takes it off. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** False for an engine on another device than the one that was asked, such as the CPU in place of a lost GPU. */
  private isHere({ adapter }: EngineInfo): boolean {
    return this.machine?.name === (adapter ?? '');
  }

  private learn(from: (known: Knowledge) => Experience): void {
    const { knowledge } = this;
    if (!knowledge) return; // of which machine is not known yet
    this.seen = from(knowledge);
    knowledge.writeExperience(this.seen);
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}
