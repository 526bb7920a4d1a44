// The stalls of a run, and the cause of each as far as known.

import type { Recovery } from '../../engine/engine';
import { panelWords } from '../../words/panel_words';
import { formatMs } from '../shared/figure_format';
import {
  describeRecovery,
  gpuMsOf,
  MARK,
  type Mark,
  placeOf,
  type RecordedToken,
  type RunData,
  type Stall,
} from './run_data';

/** A stall is longer than this many median gaps ... */
const TIMES_P50 = 3;
/** ... and longer than the median by this many milliseconds: half a frame, too short to notice. */
const BEYOND_P50_MS = 8;
/** The least part of a gap that its cause explains. */
const LEAST_SHARE = 1 / 2;
/**
 * Tokens closer than this, or than a quarter of the median, arrived together: the worker's clock ticks in steps of 0.1
 * ms.
 */
const TOGETHER_MS = 0.2;
const TOGETHER_OF_P50 = 1 / 4;

/** The values of a run that explain its gaps. `gaps` has one entry per token, without the first. */
type Run = Pick<
  RunData,
  'info' | 'places' | 'tokens' | 'gaps' | 'marks' | 'recoveries' | 'prefill' | 'metrics' | 'tbt' | 'isEnded'
>;

/** A stall whose cause is sought. */
interface Gap {
  run: Run;
  /** Index of its token, from 0. */
  index: number;
  token: RecordedToken;
  ms: number;
  /** Number of tokens that arrived together with its token, itself included. */
  together: number;
  /** The longest GPU step of these tokens, or null where the GPU has no clock (yet). */
  gpuMs: number | null;
}

/**
 * The gaps longer than three medians of their run, and longer than the median by more than 8 ms. The first condition
 * decides on slow machines, the second on fast ones. Each stall names one cause: the most certain that fits. During a
 * run, causes that depend on the GPU's times are not known yet.
 */
export function findStalls(run: Run): Stall[] {
  const { p50 } = run.tbt;
  if (p50 === null) return [];
  const least = Math.max(TIMES_P50 * p50, p50 + BEYOND_P50_MS);
  const stalls: Stall[] = [];
  for (const [index, token] of run.tokens.entries()) {
    const { tbtMs } = token;
    if (tbtMs !== null && tbtMs > least) stalls.push(judge(run, index, tbtMs, p50));
  }
  return stalls;
}

function judge(run: Run, index: number, ms: number, p50: number): Stall {
  const near = Math.max(TOGETHER_MS, TOGETHER_OF_P50 * p50);
  let end = index + 1;
  while (end < run.tokens.length && run.tokens[end].tbtMs! <= near) end++;
  let gpuMs: number | null = null;
  for (let i = index; i < end; i++) {
    const step = gpuMsOf(run, i);
    if (step !== null) gpuMs = Math.max(gpuMs ?? 0, step);
  }
  const gap = { run, index, token: run.tokens[index], ms, together: end - index, gpuMs };
  return {
    token: index + 1,
    gapMs: ms,
    cause: explain(gap).cause,
    // Kept runs outlive a change of language.
    get sentence() {
      return explain(gap).sentence;
    },
  };
}

function explain(gap: Gap): Pick<Stall, 'cause' | 'sentence'> {
  const { run, index, token, ms, together, gpuMs } = gap;
  const text = panelWords().stalls;
  const lost = run.recoveries.filter(({ afterToken, pauseMs }) => afterToken === index && pauseMs !== null);
  if (lost.length > 0) return { cause: 'recovery', sentence: lost.map(describePause).join(' ') };
  if (lastsInto(gap, MARK.hidden, MARK.shown)) return { cause: 'hidden tab', sentence: text.hidden };
  if (lastsInto(gap, MARK.tuning, MARK.tuned)) return { cause: 'tuning', sentence: text.tuning };
  const { othersMs = 0, workerMs } = token;
  if (othersMs >= LEAST_SHARE * ms) return { cause: 'other answers', sentence: text.others(formatMs(othersMs)) };
  if (token.pipelines) return { cause: 'compile', sentence: text.compile(token.pipelines) };
  if (index === 1 && (run.prefill?.total ?? 0) > 1) return { cause: 'prefill', sentence: text.prefill };
  if (placeOf(run, index) === 'remote') return { cause: 'network or server', sentence: text.network(together) };
  if (awaitsGpuTimes(run)) return { cause: 'not known yet', sentence: text.later };
  if (gpuMs !== null && gpuMs >= LEAST_SHARE * ms) return { cause: 'GPU step', sentence: text.gpu(formatMs(gpuMs)) };
  if (workerMs !== null && workerMs >= LEAST_SHARE * ms) {
    return { cause: 'worker busy', sentence: text.worker(formatMs(workerMs)) };
  }
  if (keepsMean(gap)) {
    const sentence = gpuMs === null ? text.late(together) : text.lateOnly(together, formatMs(gpuMs));
    return { cause: 'readback late', sentence };
  }
  return { cause: 'busy', sentence: text.other };
}

function describePause(recovery: Recovery): string {
  return panelWords().stalls.pause(describeRecovery(recovery), formatMs(recovery.pauseMs));
}

/** True if the GPU's times are still to come. All causes tested after this one depend on them. */
function awaitsGpuTimes({ info, isEnded, metrics }: Run): boolean {
  return !isEnded && metrics === null && info?.backend !== 'cpu';
}

/** True if an activity between a begin mark and an end mark overlapped the gap. */
function lastsInto({ run: { marks }, token, ms }: Gap, begins: string, ends: string): boolean {
  const mine = marks.filter(({ label }) => label === begins || label === ends);
  const during = (from: number, to: number) => from < token.atMs && to > token.atMs - ms;
  const [first] = mine;
  if (first?.label === ends && during(Number.NEGATIVE_INFINITY, first.atMs)) return true; // began before the run
  return mine.some(
    (mark: Mark, i) => mark.label === begins && during(mark.atMs, mine[i + 1]?.atMs ?? Number.POSITIVE_INFINITY),
  );
}

/** True if the gap and the burst after it took about as long, per token, as the other gaps. */
function keepsMean({ run: { gaps, tbt }, index, together }: Gap): boolean {
  if (together < 2) return false;
  let burst = 0;
  for (let i = 0; i < together; i++) burst += gaps[index - 1 + i]; // the first token has no gap
  const others = ((tbt.mean ?? 0) * gaps.length - burst) / (gaps.length - together);
  return burst / together <= TIMES_P50 * others;
}
