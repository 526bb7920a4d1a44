// Runs one suite in headless Chromium and hands back its report. test/bench/page.ts, bundled, is the other end.

import path from 'node:path';
import { runInPage } from './blank_page.mjs';
import { DIST } from './build.mjs';
import { locateModel } from './page_run.mjs';

/**
 * @typedef {import('../../test/bench/report').BenchReport} BenchReport
 * @typedef {import('../../test/bench/report').BenchProgress} BenchProgress
 * @typedef {import('../../test/bench/report').BenchRequest} BenchRequest
 */

/** Suites that take times much shorter than the 0.1 ms of a common page's clock. @type {import('../../test/bench/report').SuiteName[]} */
const FINE_CLOCK = ['decode', 'prefill'];

/**
 * @param {Omit<BenchRequest, 'model'>} request
 * @param {string | undefined} model as typed on the command line
 * @param {(progress: BenchProgress) => void} onProgress
 * @param {(stop: () => void) => void} [onStoppable] gets a function that ends the suite after the row it is at
 * @returns {Promise<BenchReport>}
 */
export async function benchInPage(request, model, onProgress, onStoppable) {
  const { url, mounts } = locateModel(model);
  const { answer, browserVersion } = await runInPage({
    script: '/bench.js',
    mounts: { '/lib/': path.join(DIST, 'lib'), '/bench.js': path.join(DIST, 'bench.js'), ...mounts },
    request: { ...request, model: url },
    onTold: onProgress,
    onStoppable,
    isolated: FINE_CLOCK.includes(request.suite),
  });
  return { ...answer.report, browser: `Chromium ${browserVersion}` };
}
