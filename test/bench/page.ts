// Runs inside the page that `bench` opens: one suite, one answer. tools/lib/bench_run.mjs is the other end.

import { VivaceError } from '../../src/errors';
import { asciiJson } from '../../tools/lib/ascii_json.mjs';
import { attentionSuite } from './attention';
import { baselineSuite } from './baseline';
import { Bench } from './bench';
import type { BenchRequest, BenchResult } from './report';
import { measureRoofline } from './roofline';
import { tuneSuite } from './tune';

/** What tools/lib/bench_run.mjs puts into the page, and what it calls there. */
interface Bridge {
  vivaceTell(json: string): void;
  vivaceStop: AbortController;
  vivaceRun(requestJson: string): Promise<string>;
}

const bridge = globalThis as unknown as Bridge;
bridge.vivaceStop = new AbortController();
bridge.vivaceRun = async (requestJson) => {
  try {
    return asciiJson({ report: await run(JSON.parse(requestJson)) });
  } catch (error) {
    const { message, name } = error as Error;
    const aborted = name === 'AbortError' ? 'abort' : 'internal';
    return asciiJson({ failure: { code: error instanceof VivaceError ? error.code : aborted, message } });
  }
};

async function run(request: BenchRequest) {
  const date = new Date().toISOString();
  const bench = await Bench.open(request, (said) => bridge.vivaceTell(asciiJson(said)), bridge.vivaceStop.signal);
  const result = await suite(bench);
  return { ...bench.surroundings(date), ...result };
}

async function suite(bench: Bench): Promise<BenchResult> {
  const { suite: name } = bench.request;
  switch (name) {
    case 'roofline':
      return { suite: name, roofline: await measureRoofline(bench) };
    case 'attention':
      return attentionSuite(bench);
    case 'baseline':
      return baselineSuite(bench);
    case 'tune':
      return tuneSuite(bench);
    default:
      throw name satisfies never;
  }
}
