// Calls across the worker boundary: a method by name, arguments and answers by structured clone. A port among the arguments
// changes hands; a function stays where it is and is called by messages. What crosses is said in protocol.ts, not here.

/** The methods of `T` as the other side sees them: each answers later. */
export type Remote<T> = {
  [K in keyof T]: T[K] extends (...args: infer Args) => infer Answer
    ? (...args: Args) => Promise<Awaited<Answer>>
    : never;
};

/** An argument in transit: a function travels as the port that calls it. */
type Argument = { value: unknown } | { callback: MessagePort };

interface Call {
  id: number;
  method: string;
  args: Argument[];
}

type Answer = { id: number; value: unknown } | { id: number; thrown: { name: string; message: string } };

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** One end of a worker: the worker as its page sees it, or the scope inside it. */
interface End {
  postMessage(message: unknown, options?: { transfer: Transferable[] }): void;
  addEventListener(type: 'message', listener: (event: MessageEvent) => void): void;
}

/** A call to a worker that has died never settles: the caller has to race it. */
export function callRemote<T extends object>(end: End): Remote<T> {
  const waiting = new Map<number, Waiting>();
  let calls = 0;
  end.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
    const call = waiting.get(data.id);
    waiting.delete(data.id);
    if ('thrown' in data) call?.reject(Object.assign(new Error(data.thrown.message), { name: data.thrown.name }));
    else call?.resolve(data.value);
  });
  const call =
    (method: string) =>
    (...given: unknown[]) =>
      new Promise((resolve, reject) => {
        const id = calls++;
        const args = given.map(pack);
        const ports = args.map((arg) => ('callback' in arg ? arg.callback : arg.value));
        waiting.set(id, { resolve, reject });
        end.postMessage({ id, method, args } satisfies Call, { transfer: ports.filter(isPort) });
      });
  return new Proxy({} as Remote<T>, { get: (_, method) => call(String(method)) });
}

/** Answers calls with the methods of `api`, and with nothing else that it has or inherits. */
export function answerCalls(api: object, end: End): void {
  const methods = new Map<string, unknown>(Object.entries(api));
  end.addEventListener('message', async ({ data: { id, method, args } }: MessageEvent<Call>) => {
    const send = (answer: Answer) => end.postMessage(answer);
    try {
      const run = methods.get(method);
      if (typeof run !== 'function') throw new TypeError(`The worker has no method "${method}".`);
      send({ id, value: await run(...args.map(unpack)) }); // throws, too, where the answer cannot be cloned
    } catch (cause) {
      const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
      send({ id, thrown: { name, message } });
    }
  });
}

const isPort = (value: unknown): value is MessagePort => value instanceof MessagePort;

function pack(value: unknown): Argument {
  if (typeof value !== 'function') return { value };
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => value(...data);
  return { callback: port2 };
}

function unpack(arg: Argument): unknown {
  return 'callback' in arg ? (...values: unknown[]) => arg.callback.postMessage(values) : arg.value;
}
