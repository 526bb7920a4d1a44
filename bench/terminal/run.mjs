// Runs one suite in headless Chromium, in one browser or several, and hands back the report. bench/page/page.ts, bundled, is the other end.

import path from 'node:path';
import { runInPage } from '../../tools/lib/blank_page.mjs';
import { DIST } from '../../tools/lib/build.mjs';
import { locateModel } from '../../tools/lib/page_run.mjs';
import { mergeBrowsers } from './browsers.mjs';

/**
 * @typedef {import('../report').BenchReport} BenchReport
 * @typedef {import('../report').BenchProgress} BenchProgress
 * @typedef {import('../report').BenchRequest} BenchRequest
 */

/** Suites that take times much shorter than the 0.1 ms of a common page's clock. @type {import('../report').SuiteName[]} */
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

/**
 * The same in `browsers` fresh ones, one after another: what differs from browser to browser is then seen.
 * @param {number} browsers at least 1
 * @param {Omit<BenchRequest, 'model'>} request
 * @param {string | undefined} model
 * @param {(progress: BenchProgress) => void} onProgress
 * @param {(stop: () => void) => void} [onStoppable] gets a function that ends the suite after the row it is at; no browser follows
 * @returns {Promise<BenchReport>}
 */
export async function benchInBrowsers(browsers, request, model, onProgress, onStoppable) {
  let stopPage = () => {};
  let stopped = false;
  onStoppable?.(() => {
    stopped = true;
    stopPage();
  });
  /** @type {BenchReport[]} */
  const reports = [];
  while (reports.length < browsers && !stopped) {
    const title = browsers > 1 ? `browser ${reports.length + 1} of ${browsers}, ` : '';
    const tell = (/** @type {BenchProgress} */ said) => onProgress({ ...said, text: title + said.text });
    const report = await benchInPage(request, model, tell, (stop) => {
      stopPage = stop;
    });
    reports.push(report);
  }
  return mergeBrowsers(reports);
}
