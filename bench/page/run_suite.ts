// One request, one report: the same in the page and in its worker.

import { VivaceError } from '../../src/errors';
import type { BenchProgress, BenchRequest, BenchResult, Refusal, Surroundings } from '../report';
import { type AskNeighbor, Bench } from './bench';
import { measureRoofline } from './measure/roofline';
import { attentionSuite } from './suites/attention';
import { baselineSuite } from './suites/baseline';
import { decodeSuite } from './suites/decode';
import { kvSuite } from './suites/kv';
import { matricesSuite } from './suites/matrices';
import { prefillSuite } from './suites/prefill';
import { qualitySuite } from './suites/quality';
import { raceSuite } from './suites/race';
import { sdkSuite } from './suites/sdk';
import { stepSuite } from './suites/step';
import { tuneSuite } from './suites/tune';

/** The browser's version is still missing. Errors are data: a clone of a class would lose its code. */
export type Outcome = { report: BenchResult & Surroundings } | { failure: Refusal };

/** Never rejects; what is no typed error is a defect. */
export function runSuite(
  request: BenchRequest,
  say: (progress: BenchProgress) => void,
  signal: AbortSignal,
  neighbor: AskNeighbor,
): Promise<Outcome> {
  return run(request, say, signal, neighbor).then((report) => ({ report }), failureOf);
}

export function failureOf(error: unknown): Outcome {
  const { message, name } = error as Error;
  const other = name === 'AbortError' ? 'abort' : 'internal';
  return { failure: { code: error instanceof VivaceError ? error.code : other, message } };
}

async function run(
  request: BenchRequest,
  say: (progress: BenchProgress) => void,
  signal: AbortSignal,
  neighbor: AskNeighbor,
) {
  const date = new Date().toISOString();
  const bench = await Bench.open(request, say, signal, neighbor);
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
    case 'decode':
      return decodeSuite(bench);
    case 'prefill':
      return prefillSuite(bench);
    case 'quality':
      return qualitySuite(bench);
    case 'step':
      return stepSuite(bench);
    case 'race':
      return raceSuite(bench);
    case 'matrices':
      return matricesSuite(bench);
    case 'kv':
      return kvSuite(bench);
    case 'sdk':
      return sdkSuite(bench);
    default:
      throw name satisfies never;
  }
}
