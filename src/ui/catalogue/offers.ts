// What the page offers: the list of models, what is known of this machine, and which models are here, running or on
// their way. Elements listen and render it; the page tells it what happens. It loads no model.

import {
  type CachedModel,
  type EngineInfo,
  listCachedModels,
  type ModelLocation,
  type Roofline,
} from '../../engine/engine';
import { type Catalogue, type CatalogueModel, type CataloguePlace, storyteller } from './catalogue';
import { readCatalogue } from './catalogue_file';
import { type Experience, noExperience, withGranted, withRate, withRefused } from './experience';
import { readExperience, writeExperience } from './experience_store';
import { needOf } from './fit';
import { inspectMachine, type Machine } from './machine';
import { recommend } from './recommend';

/** A load under way. */
export interface Loading {
  readonly location: ModelLocation;
  readonly loadedBytes: number;
  /** 0 while unknown. */
  readonly totalBytes: number;
}

/** What the browser gives. Tests give their own. */
export interface OfferSources {
  readonly catalogue: (place: CataloguePlace) => Promise<Catalogue>;
  readonly machine: () => Promise<Machine>;
  readonly kept: () => Promise<CachedModel[]>;
}

export class Offers {
  models: readonly CatalogueModel[];
  complaints: readonly string[] = [];
  /** Null until the browser was asked. */
  machine: Machine | null = null;
  seen: Experience = noExperience('');
  /** Null until the list of downloaded models was read. */
  kept: readonly CachedModel[] | null = null;
  running: ModelLocation | null = null;
  loading: Loading | null = null;
  private readonly listeners = new Set<() => void>();
  private readonly sources: OfferSources;

  constructor(
    private readonly place: CataloguePlace,
    usesGpu: boolean,
    sources: Partial<OfferSources> = {},
  ) {
    this.models = [storyteller(place)];
    this.sources = {
      catalogue: readCatalogue,
      machine: () => inspectMachine(usesGpu),
      kept: listCachedModels,
      ...sources,
    };
  }

  /** Reads the list and asks for the machine. */
  async read(): Promise<void> {
    const [{ models, complaints }, machine] = await Promise.all([
      this.sources.catalogue(this.place),
      this.sources.machine(),
    ]);
    Object.assign(this, { models, complaints, machine, seen: readExperience(machine.name) });
    this.tell();
  }

  /** Reads the list of downloaded models anew. */
  async readKept(): Promise<void> {
    this.kept = await this.sources.kept().catch(() => []);
    this.tell();
  }

  /** The model of the list at an address. */
  find(location: ModelLocation | null): CatalogueModel | null {
    return this.models.find((model) => model.location === location) ?? null;
  }

  /** The model to recommend here, once the machine is known. */
  get recommended(): CatalogueModel | null {
    return this.machine && recommend(this.models, this.machine, this.seen);
  }

  show(state: Partial<Pick<Offers, 'running' | 'loading'>>): void {
    Object.assign(this, state);
    this.tell();
  }

  /** A model has loaded: as much memory as it has can be had. */
  noteLoaded(info: EngineInfo): void {
    const { gpuBytes } = info;
    if (!gpuBytes || !this.isHere(info)) return;
    this.learn(withGranted(this.seen, gpuBytes.weights + gpuBytes.kvCache + gpuBytes.activations));
  }

  /** A model did not get its memory. */
  noteRefused(location: ModelLocation): void {
    const model = this.find(location);
    if (model && this.machine) this.learn(withRefused(this.seen, needOf(model, this.machine)));
  }

  /** An answer has ended. */
  noteAnswer(location: ModelLocation | null, info: EngineInfo, tokensPerSecond: number | null): void {
    if (typeof location !== 'string' || !tokensPerSecond || !this.isHere(info)) return;
    const bytesPerToken = info.bytesPerToken?.weights ?? 4 * info.model.parameters;
    this.learn(withRate(this.seen, location, { tokensPerSecond, bytesPerToken }));
  }

  /** The speed of this GPU's memory was measured. */
  noteRoofline(roofline: Roofline | null): void {
    if (roofline) this.learn({ ...this.seen, readGBps: roofline.readGBps });
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

  private learn(seen: Experience): void {
    this.seen = seen;
    writeExperience(seen);
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}
