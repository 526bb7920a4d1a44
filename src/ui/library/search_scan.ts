// Searches all conversations, newest first, in slices of a few milliseconds. It keeps the folded texts, up to a
// limit, so that the next letter of a search reads only what it shows. Knows no page.

import { nextTask } from '../../shared/next_task';
import type { Summary } from '../conversation/conversation_index';
import { type Found, findWords, foldTexts, hasWords, type Searched } from './find_words';
import { MAX_RESULTS, type ScanState } from './search_state';

/** Milliseconds of work without a pause. */
const SLICE_MS = 6;
/** Letters of kept texts. */
const MAX_KEPT = 64_000_000;
/** Conversations that are read ahead of the search. */
const AHEAD = 8;

interface Kept {
  updatedAt: number;
  folded: string;
}

export class SearchScan {
  private readonly kept = new Map<string, Kept>();
  private letters = 0;
  private sliceStart = 0;

  /** @param pause resolves in a later task */
  constructor(
    private readonly load: (id: string) => Promise<Searched | null>,
    private readonly pause: () => Promise<void> = nextTask,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Searches until `signal` aborts. Calls `onState` after each slice, and at the end. */
  async run(
    words: readonly string[],
    summaries: readonly Summary[],
    signal: AbortSignal,
    onState: (state: ScanState) => void,
  ): Promise<void> {
    const found: Found[] = [];
    const total = summaries.length;
    this.sliceStart = this.now();
    let done = 0;
    const rest = async () => {
      if (this.now() - this.sliceStart < SLICE_MS) return;
      onState({ found: [...found], done, total });
      await this.pause();
      this.sliceStart = this.now();
    };
    const reads = summaries.slice(0, AHEAD).map((summary) => this.read(summary));
    for (; done < total && found.length < MAX_RESULTS && !signal.aborted; done++) {
      const summary = summaries[done];
      const next = summaries[done + AHEAD];
      if (next) reads.push(this.read(next));
      const read = (await reads.shift()) ?? null; // let go of: a search holds those ahead of it
      const result = await this.searchOne(summary, read, words, signal, rest);
      if (result) found.push(result);
    }
    if (!signal.aborted) onState({ found, done: total, total });
  }

  /** Lets go of the kept text of a conversation that may have grown. */
  forget(id: string): void {
    this.letters -= this.kept.get(id)?.folded.length ?? 0;
    this.kept.delete(id);
  }

  /** Lets go of the kept texts. */
  clear(): void {
    this.kept.clear();
    this.letters = 0;
  }

  private async searchOne(
    summary: Summary,
    read: Searched | Kept | null,
    words: readonly string[],
    signal: AbortSignal,
    rest: () => Promise<void>,
  ): Promise<Found | null> {
    if (!read) return null;
    await rest();
    const folded = 'folded' in read ? read.folded : await finish(foldTexts(read), signal, rest);
    if (folded === null) return null;
    if (!('folded' in read)) this.keep(summary, folded);
    if (!hasWords(summary.title, folded, words)) return null;
    const searched = 'folded' in read ? await this.load(summary.id).catch(() => null) : read;
    return searched && (await finish(findWords(searched, summary.title, words), signal, rest));
  }

  /** The kept text of a conversation, or the conversation, or null if it cannot be read. */
  private async read({ id, updatedAt }: Summary): Promise<Searched | Kept | null> {
    const kept = this.kept.get(id);
    return kept?.updatedAt === updatedAt ? kept : this.load(id).catch(() => null);
  }

  private keep({ id, updatedAt }: Summary, folded: string): void {
    this.forget(id);
    if (this.letters + folded.length > MAX_KEPT) return;
    this.kept.set(id, { updatedAt, folded });
    this.letters += folded.length;
  }
}

/** The result of work in steps, with rests between them. Null if it is aborted. */
async function finish<T>(steps: Generator<void, T>, signal: AbortSignal, rest: () => Promise<void>): Promise<T | null> {
  for (let step = steps.next(); !signal.aborted; step = steps.next()) {
    if (step.done) return step.value;
    await rest();
  }
  return null;
}
