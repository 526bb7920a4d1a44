// The runs that this browser keeps, each as the text of its document, with an index of lines for the list. Bounded: the
// oldest runs go first, pinned ones stay. Where storage fails, runs last as long as the page.

import { type KeyValueTable, memoryTable } from '../../shared/key_value_table';
import { type KeptRun, runOf } from '../run/kept_run';
import { readRun } from '../run/run_parse';
import { type RunSummary, readIndex, summarize } from './run_summary';

const INDEX = 'index';
const KEPT = 'run/';

interface Bounds {
  runs: number;
  /** UTF-16 units of all documents. */
  size: number;
}

/** Bounds in storage. 25 million units of two bytes are 50 MB. */
const KEPT_BOUNDS: Bounds = { runs: 200, size: 25_000_000 };
/** Bounds in the memory of a page. */
const MEMORY_BOUNDS: Bounds = { runs: 20, size: 5_000_000 };

/** A run taken out of the store, to be put back. */
export interface RemovedRun {
  summary: RunSummary;
  text: string;
}

export class RunStore {
  /** False once the storage has failed, and for a store in memory. */
  isKept: boolean;
  private table: KeyValueTable;
  private bounds: Bounds;
  /** Ends with the newest change. Each change reads the list and then writes it, so they come one after another. */
  private changes: Promise<unknown> = Promise.resolve();

  /** @param storage null: in memory */
  constructor(storage: KeyValueTable | null, bounds: Bounds = storage ? KEPT_BOUNDS : MEMORY_BOUNDS) {
    this.table = storage ?? memoryTable();
    this.isKept = storage !== null;
    this.bounds = bounds;
  }

  /** The lines of all runs, newest first. Lines without a run go, and runs without a line get one. */
  async list(): Promise<RunSummary[]> {
    return this.safely(async () => {
      const rows = readIndex(await this.table.get(INDEX));
      const ids = new Set((await this.table.keys(KEPT)).map((key) => key.slice(KEPT.length)));
      const known = new Set(rows.map(({ id }) => id));
      const missing = [...ids].filter((id) => !known.has(id)).slice(0, this.bounds.runs);
      const found: RunSummary[] = [];
      for (const id of missing) {
        const text = await this.textOf(id);
        const run = text === null ? null : open(text);
        if (run?.origin.id === id) found.push(summarize(run, text?.length ?? 0, null));
      }
      return newestFirst([...rows.filter(({ id }) => ids.has(id)), ...found]);
    });
  }

  /** The run, or null if it is not kept or no valid run. */
  async load(id: string): Promise<KeptRun | null> {
    const [text, rows] = await this.safely(async () => [await this.textOf(id), await this.list()] as const);
    const run = text === null ? null : open(text);
    const name = rows.find((row) => row.id === id)?.name;
    return run && { ...run, origin: { ...run.origin, id, name: name ?? run.origin.name } };
  }

  /** Keeps runs, in place of older versions of them, and lets the oldest ones go. */
  async keep(runs: readonly RemovedRun[]): Promise<void> {
    await this.inTurn(async () => {
      const { bounds } = this;
      const fitting = runs.filter(({ text }) => text.length <= bounds.size);
      const texts = new Map(fitting.map(({ summary, text }) => [summary.id, text]));
      const before = await this.list();
      const named = fitting.map(({ summary }) => ({
        ...summary,
        name: summary.name || (before.find(({ id }) => id === summary.id)?.name ?? ''),
      }));
      const kept = within(newestFirst([...before.filter(({ id }) => !texts.has(id)), ...named]), bounds);
      const keptIds = new Set(kept.map(({ id }) => id));
      const gone = before.filter(({ id }) => !keptIds.has(id)).map(({ id }) => id);
      const written = [...texts.keys()].filter((id) => keptIds.has(id));
      await this.table.update([...gone, ...written].map((id) => KEPT + id).concat(INDEX), (key, value) =>
        key === INDEX ? withFresh(kept, before, readIndex(value)) : (texts.get(key.slice(KEPT.length)) ?? null),
      );
    });
  }

  /** Changes the line of a run. */
  async edit(id: string, change: Partial<Pick<RunSummary, 'name' | 'pin'>>): Promise<void> {
    await this.inTurn(async () => {
      const before = await this.list();
      await this.table.update([INDEX], (_, value) =>
        withFresh(before, before, readIndex(value)).map((row) => (row.id === id ? { ...row, ...change } : row)),
      );
    });
  }

  /** Takes runs out, and returns them so that this can be undone. */
  async remove(ids: readonly string[]): Promise<RemovedRun[]> {
    return this.inTurn(async () => {
      const rows = (await this.list()).filter(({ id }) => ids.includes(id));
      const removed: RemovedRun[] = [];
      for (const summary of rows) removed.push({ summary, text: (await this.textOf(summary.id)) ?? '' });
      await this.table.update([...ids.map((id) => KEPT + id), INDEX], (key, value) =>
        key === INDEX ? readIndex(value).filter(({ id }) => !ids.includes(id)) : null,
      );
      return removed;
    });
  }

  private async textOf(id: string): Promise<string | null> {
    const text = await this.table.get(KEPT + id);
    return typeof text === 'string' ? text : null;
  }

  /** Does the work after all earlier changes. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const change = this.changes.then(() => this.safely(work));
    this.changes = change.catch(() => {}); // whoever asked for the change hears of its failure
    return change;
  }

  /** Does the work, or after a failure of the storage does it in memory. */
  private async safely<T>(work: () => Promise<T>): Promise<T> {
    const { table } = this;
    try {
      return await work();
    } catch (error) {
      if (table === this.table) {
        if (!this.isKept) throw error;
        this.isKept = false;
        this.table = memoryTable();
        this.bounds = MEMORY_BOUNDS;
      } // else other work has met the failure
      return work();
    }
  }
}

/** The run of a kept text, or null if it is damaged. */
function open(text: string): KeptRun | null {
  try {
    return runOf(readRun(text));
  } catch {
    return null;
  }
}

function newestFirst(rows: readonly RunSummary[]): RunSummary[] {
  return [...rows].sort((a, b) => b.startedAt - a.startedAt);
}

/** The rows to write, with what another tab wrote since `before` was read: new rows, and names and pins of old ones. */
function withFresh(
  rows: readonly RunSummary[],
  before: readonly RunSummary[],
  fresh: readonly RunSummary[],
): RunSummary[] {
  const [old, now] = [new Map(before.map((row) => [row.id, row])), new Map(fresh.map((row) => [row.id, row]))];
  const merged = rows.map((row) => {
    const [was, is] = [old.get(row.id), now.get(row.id)];
    if (!was || !is) return row;
    return { ...row, ...(is.name !== was.name && { name: is.name }), ...(is.pin !== was.pin && { pin: is.pin }) };
  });
  const ids = new Set(rows.map(({ id }) => id));
  return newestFirst([...merged, ...fresh.filter(({ id }) => !old.has(id) && !ids.has(id))]);
}

/** The pinned rows, and of the others the newest ones that fit, in their order. */
function within(rows: readonly RunSummary[], bounds: Bounds): RunSummary[] {
  let [runs, size] = [0, 0];
  const kept = new Set<RunSummary>();
  for (const row of [...rows.filter(({ pin }) => pin), ...rows.filter(({ pin }) => !pin)]) {
    if (runs + 1 > bounds.runs || size + row.size > bounds.size) continue;
    runs++;
    size += row.size;
    kept.add(row);
  }
  return rows.filter((row) => kept.has(row));
}
