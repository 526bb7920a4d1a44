// The page's end of a program in the terminal: one request in, one answer out, both as ASCII JSON. The other end is
// tools/lib/browser/blank_page.ts.

import { asciiJson } from './ascii_json';

/** The globals that connect the page and the terminal. */
interface Bridge {
  vivaceTell(json: string): void;
  vivaceStop: AbortController;
  vivaceRun(requestJson: string): Promise<string>;
}

/** A task of the page: `tell` passes progress to the terminal, `signal` ends the work early. */
export type Task<Request> = (request: Request, tell: (said: object) => void, signal: AbortSignal) => Promise<object>;

/** Answers the requests of the terminal with `run`. An error becomes the answer's `failure`, with its code. */
export function answerTerminal<Request>(run: Task<Request>): void {
  const bridge = globalThis as unknown as Bridge;
  bridge.vivaceStop = new AbortController();
  bridge.vivaceRun = async (requestJson) => {
    const tell = (said: object) => bridge.vivaceTell(asciiJson(said));
    const answer = run(JSON.parse(requestJson), tell, bridge.vivaceStop.signal);
    return asciiJson(await answer.catch((error) => ({ failure: describe(error) })));
  };
}

function describe(error: unknown): { code: string; message: string } {
  const { name, message, code } = error as Error & { code?: unknown };
  return { code: typeof code === 'string' ? code : name === 'AbortError' ? 'abort' : 'internal', message };
}
