// Runs one suite in headless Chromium, in one browser or several, and hands back the report. bench/page/page.ts is the
// page's end.

import path from 'node:path';
import { runInPage } from '../../tools/lib/browser/blank_page';
import { CLIENTS, DIST } from '../../tools/lib/bundle/dist';
import { locateModel } from '../../tools/lib/locate_model';
import type { BenchProgress, BenchReport, BenchRequest, SuiteName } from '../report';
import { mergeBrowsers } from './browsers';
import { offerMainThread } from './main_thread';
import { offerNeighbor } from './neighbor';

/** Suites that take times much shorter than the 0.1 ms of a common page's clock. */
const FINE_CLOCK: SuiteName[] = ['decode', 'prefill', 'step'];

/**
 * @param model as typed on the command line
 * @param onStoppable gets a function that ends the suite after the row it is at
 */
async function benchInPage(
  request: Omit<BenchRequest, 'model'>,
  model: string | undefined,
  onProgress: (progress: BenchProgress) => void,
  onStoppable?: (stop: () => void) => void,
): Promise<BenchReport> {
  const { url, mounts } = locateModel(model);
  const { answer, browserVersion } = await runInPage<{ report: BenchReport }>({
    script: '/bench.js',
    mounts: {
      '/lib/': path.join(DIST, 'lib'),
      '/bench.js': path.join(DIST, 'bench.js'),
      '/bench_clients.js': CLIENTS,
      ...mounts,
    },
    request: { ...request, model: url },
    onTold: onProgress,
    onStoppable,
    prepare: async (page, browser, url) => {
      await offerNeighbor(page, browser, url);
      await offerMainThread(page);
    },
    isolated: FINE_CLOCK.includes(request.suite),
  });
  return { ...answer.report, browser: `Chromium ${browserVersion}` };
}

/**
 * The same in `browsers` fresh ones, one after another: what differs from browser to browser is then seen.
 * @param browsers at least 1
 * @param onStoppable gets a function that ends the suite after the row it is at; no browser follows
 */
export async function benchInBrowsers(
  browsers: number,
  request: Omit<BenchRequest, 'model'>,
  model: string | undefined,
  onProgress: (progress: BenchProgress) => void,
  onStoppable?: (stop: () => void) => void,
): Promise<BenchReport> {
  let stopPage = () => {};
  let stopped = false;
  onStoppable?.(() => {
    stopped = true;
    stopPage();
  });
  const reports: BenchReport[] = [];
  while (reports.length < browsers && !stopped) {
    const title = browsers > 1 ? `browser ${reports.length + 1} of ${browsers}, ` : '';
    const tell = (said: BenchProgress) => onProgress({ ...said, text: title + said.text });
    const report = await benchInPage(request, model, tell, (stop) => {
      stopPage = stop;
    });
    reports.push(report);
  }
  return mergeBrowsers(reports);
}
