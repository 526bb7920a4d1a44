// Work on pieces in other threads: both ends of their MessagePorts. A digest keeps the thread that asks for it busy, so
// that a load which does all by itself reads, hashes and uploads one piece after another.

import { LateError, withTimeout } from '../../shared/with_timeout';
import { opfsPieces } from './piece_store';
import { type PieceWork, workHere } from './piece_work';
import { PIECE_MS } from './watched_stores';

/** Starts a thread that listens at the other end of the port (`servePieces`). Null if there is none. Never rejects. */
export type StartPieceThread = () => Promise<MessagePort | null>;

/** Pieces of a load before threads start: they cost more than a small model's pieces. */
const ALONE = 8;
const MOST_THREADS = 3;

type Bytes = Uint8Array<ArrayBuffer>;
type Piece = Awaited<ReturnType<PieceWork['read']>>;
type Asked = { ask: 'read' | 'write'; name: string } | { ask: 'name'; bytes: Bytes };
type Question = (Asked & { id: number }) | { ask: 'end' };
/** `spare` is the memory of bytes that are written, for those that follow. */
type Answer = { id: number; value: unknown; spare?: Bytes } | { id: number; error: { name: string; message: string } };

/**
 * The work of one load: its first pieces `here`, the others in threads as soon as they have started. A thread that does
 * not answer is asked no more, and its piece is done here. `onTrouble` hears what storage refuses in a thread.
 */
export function workInThreads(
  here: PieceWork,
  start: StartPieceThread,
  onTrouble: (error: unknown) => void,
): PieceWork {
  const threads = new Set<PieceThread>();
  const holders = new Map<string, PieceThread>(); // of bytes that have a name and are not written
  let pieces = 0;
  let hasEnded = false;
  const startOne = async () => {
    const port = await start();
    if (!port) return;
    const thread = new PieceThread(port);
    if (hasEnded) thread.end();
    else threads.add(thread);
  };
  const next = () => {
    if (++pieces === ALONE) for (let i = 0; i < countThreads(); i++) void startOne();
    return [...threads].at(pieces % Math.max(1, threads.size));
  };
  const inThread = async <T>(thread: PieceThread, ask: () => Promise<T>): Promise<{ value: T } | null> => {
    try {
      return { value: await ask() };
    } catch (error) {
      if (error instanceof LateError) {
        if (threads.delete(thread)) thread.end(); // once, for all that it was asked
        return null;
      }
      onTrouble(error);
      throw error;
    }
  };
  return {
    async read(name) {
      const thread = next();
      const done = thread && (await inThread(thread, () => thread.ask<Piece>({ ask: 'read', name })));
      return done ? done.value : here.read(name);
    },
    async name(bytes) {
      const thread = next();
      if (!thread) return here.name(bytes);
      const copy = thread.copyOf(bytes);
      const done = await inThread(thread, () => thread.ask<string>({ ask: 'name', bytes: copy }, [copy.buffer]));
      if (!done) return here.name(bytes);
      holders.set(done.value, thread);
      return done.value;
    },
    async write(name, bytes) {
      const thread = holders.get(name);
      holders.delete(name);
      const isThere = thread && threads.has(thread);
      const done = isThere && (await inThread(thread, () => thread.ask({ ask: 'write', name })));
      if (!done) await here.write(name, bytes);
    },
    end() {
      hasEnded = true;
      for (const thread of threads) thread.end();
      threads.clear(); // what was read ahead may still come
    },
  };
}

/** One core is left to the thread that loads. */
function countThreads(): number {
  const cores = globalThis.navigator?.hardwareConcurrency ?? 2;
  return Math.min(MOST_THREADS, Math.max(1, cores - 1));
}

/** The asking end of a thread's port. */
class PieceThread {
  private readonly waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  private next = 0;
  /** Memory that came back. New memory for each piece would be garbage of the thread, as large as the file. */
  private readonly spares: Bytes[] = [];

  constructor(private readonly port: MessagePort) {
    port.onmessage = ({ data }: MessageEvent<Answer>) => {
      const waiting = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if ('error' in data) waiting?.reject(Object.assign(new Error(data.error.message), { name: data.error.name }));
      else waiting?.resolve(data.value);
      if ('spare' in data && data.spare) this.spares.push(data.spare);
    };
  }

  /** A copy to send. */
  copyOf(bytes: Bytes): Bytes {
    const spare = this.spares.at(-1)?.length === bytes.length ? this.spares.pop() : undefined;
    if (!spare) return bytes.slice();
    spare.set(bytes);
    return spare;
  }

  /** @throws LateError, and as the work in the thread */
  ask<T>(question: Asked, transfer: Transferable[] = []): Promise<T> {
    const id = this.next++;
    const asking = new Promise<unknown>((resolve, reject) => this.waiting.set(id, { resolve, reject }));
    this.post({ ...question, id }, transfer);
    return withTimeout(() => asking as Promise<T>, PIECE_MS);
  }

  end(): void {
    this.post({ ask: 'end' }, []);
  }

  private post(question: Question, transfer: Transferable[]): void {
    this.port.postMessage(question, transfer);
  }
}

/** Works on the pieces of this origin for the asking end of `port`. Resolves when that has ended the work. */
export function servePieces(port: MessagePort, open = opfsPieces): Promise<void> {
  const opening = open().then(workHere);
  opening.catch(() => {}); // every question hears of it
  const named = new Map<string, Bytes>();
  /** The answer with the memory that goes back with it. */
  const answer = async (question: Exclude<Question, { ask: 'end' }>) => {
    const { id } = question;
    const work = await opening;
    if (question.ask === 'read') {
      const value = await work.read(question.name);
      return { answer: { id, value }, memory: value?.bytes };
    }
    if (question.ask === 'name') {
      const value = await work.name(question.bytes);
      named.set(value, question.bytes);
      return { answer: { id, value } };
    }
    const spare = named.get(question.name);
    named.delete(question.name);
    if (spare) await work.write(question.name, spare); // else a piece of equal content is being written
    return { answer: { id, value: null, spare }, memory: spare };
  };
  return new Promise((resolve) => {
    port.onmessage = async ({ data }: MessageEvent<Question>) => {
      if (data.ask === 'end') return resolve();
      const { id } = data;
      try {
        const { answer: found, memory } = await answer(data);
        port.postMessage(found satisfies Answer, memory ? [memory.buffer] : []);
      } catch (thrown) {
        const { name, message } = thrown instanceof Error ? thrown : new Error(String(thrown));
        port.postMessage({ id, error: { name, message } } satisfies Answer);
      }
    };
  });
}
