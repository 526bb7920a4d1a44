// The view "Over tokens": the gap before each token by the token's number, with prefill, first token, events,
// percentiles and stalls.

import { panelWords } from '../../../words/panel_words';
import type { RunData } from '../../run/run_data';
import { formatMs } from '../../shared/figure_format';
import {
  type ChartInput,
  levelsOf,
  liftToFloor,
  PIN_DASHES,
  type Picture,
  prefillLabel,
  type Range,
  type Series,
  type Spot,
  scaleOf,
  type View,
} from './picture';
import { placeParts, shared } from './place_parts';
import { decimate, nearest, Points, partInside, partWithin } from './points';

/** Least number of tokens on the axis, so that the first ones do not fly apart. */
const MIN_TOKENS = 24;
/** The number of gaps below which each is a dot on the line. */
const DOTS_BELOW = 60;

interface Live {
  x: Range;
  columns: number;
  isLog: boolean;
  isFilled: boolean;
}

export class TokensView implements View {
  readonly id = 'tokens';
  private readonly buffers = Array.from({ length: 3 }, () => new Points());
  /** The points of each place. */
  private readonly parts: Points[] = [];
  private run: RunData | null = null;

  get title(): string {
    return panelWords().chart.views.tokens;
  }

  picture({ run, tbt, stalls, pins, isLog, columns, zoom }: ChartInput): Picture {
    this.run = run;
    const shown = pins.filter((pin) => pin.run !== run);
    const runs = [...shown.map((pin) => pin.run), run];
    const whole = { min: 1, max: Math.max(MIN_TOKENS, ...runs.map((each) => each.tokens.length)) };
    const x = zoom ?? whole;
    const points = shown.map(({ run: { tokenNumbers, gaps } }, i) => {
      const out = this.buffers[i];
      decimate(tokenNumbers, gaps, columns, out, partWithin(tokenNumbers, x.min, x.max));
      if (isLog) liftToFloor(out);
      return out;
    });
    const series: Series[] = shown.map(({ letter }, i) => ({
      kind: 'line',
      ink: letter,
      dash: PIN_DASHES[letter],
      data: points[i].view(),
    }));
    const live = this.live(run, { x, columns, isLog, isFilled: shown.length === 0 });
    series.push(...live.flatMap((part) => part.series));
    const y = scaleOf([...points, ...live.map((part) => part.points)], isLog, x);
    return {
      series,
      x,
      whole,
      y,
      yTitle: panelWords().chart.axes.gap,
      xTitle: panelWords().chart.axes.token,
      countsTokens: true,
      isEmpty: runs.every(({ gaps }) => gaps.length === 0),
      lead: x.min > whole.min ? '' : prefillLabel(run),
      verticals: [
        ...(run.ttftMs === null
          ? []
          : [{ x: 1, label: panelWords().chart.firstToken(formatMs(run.ttftMs)), ink: 'accent' as const }]),
        ...(run.places.length > 1 ? run.places : []).map(({ afterToken, place }) => ({
          x: Math.max(1, afterToken),
          label: panelWords().chart.places[place],
          ink: place === 'remote' ? ('remote' as const) : ('accent' as const),
        })),
        ...run.marks.map(({ afterToken, label }) => ({ x: Math.max(1, afterToken), label, ink: 'ink' as const })),
      ],
      levels: levelsOf(tbt, run.gaps.length, isLog),
      stalls: stalls.map(({ token, gapMs }) => ({ x: token, y: Math.max(gapMs, y.min) })),
    };
  }

  /** The newest run: a line for each place, from the last token of the place before. */
  private live(run: RunData, { x, columns, isLog, isFilled }: Live) {
    const { tokenNumbers, gaps } = run;
    const inSight = partWithin(tokenNumbers, x.min, x.max);
    const hasDots = inSight.to - inSight.from < DOTS_BELOW;
    return placeParts(run).map(({ ink, from, to }, i) => {
      this.parts[i] ??= new Points();
      const points = this.parts[i];
      const joint = from > inSight.from ? 1 : 0; // the last token of the place before
      decimate(tokenNumbers, gaps, columns, points, shared(inSight, { from: from - joint, to }));
      if (isLog) liftToFloor(points);
      const [xs, ys] = points.view();
      const series: Series[] = [
        { kind: 'line', ink, isFilled: isFilled && ink === 'accent', data: [xs, ys] },
        { kind: 'points', ink, data: hasDots ? [xs.subarray(joint), ys.subarray(joint)] : [[], []] },
      ];
      return { points, series };
    });
  }

  gapsWithin({ min, max }: Range): readonly number[] {
    const { tokenNumbers = [], gaps = [] } = this.run ?? {};
    const { from, to } = partInside(tokenNumbers, min, max);
    return gaps.slice(from, to);
  }

  nameRange({ min, max }: Range): string {
    return panelWords().chart.tokens(Math.ceil(min), Math.floor(max), this.run?.tokens.length ?? 0);
  }

  spotNear(x: number): Spot | null {
    const index = nearest(this.run?.tokenNumbers ?? [], x);
    return index < 0 ? null : this.spot(index);
  }

  count(): number {
    return this.run?.gaps.length ?? 0;
  }

  spot(index: number): Spot {
    const run = this.run!;
    return { run, index, x: run.tokenNumbers[index], y: run.gaps[index] };
  }
}
