// Paints the marks around the series of a picture: the bar of prefill, lines with labels, rings around stalled tokens.

import type uPlot from 'uplot';
import type { Ink, Picture } from './picture';

/** Colors as CSS text. `fill` is the area below a line. */
export type Colors = Record<Ink | 'fill', string>;

/** Width of the prefill bar in CSS pixels. */
export const LEAD_WIDTH = 17;
/** Height of a label in CSS pixels. */
const LINE_HEIGHT = 12;
const FONT = '11px system-ui, sans-serif';

/**
 * Places for labels whose wanted places are given in ascending order. Neighbors keep a distance of `gap`, labels move
 * as little as necessary, and all stay within [min, max] where there is room.
 */
export function spreadLabels(wanted: readonly number[], gap: number, min: number, max: number): number[] {
  const places = wanted.map((place) => Math.min(max, Math.max(min, place)));
  for (let i = 1; i < places.length; i++) places[i] = Math.max(places[i], places[i - 1] + gap);
  let ceiling = max;
  for (let i = places.length - 1; i >= 0; i--) {
    places[i] = Math.min(places[i], ceiling);
    ceiling = places[i] - gap;
  }
  return places;
}

/** Paints on the canvas. `ratio` is the number of canvas pixels per CSS pixel. */
export function paintMarks(plot: uPlot, picture: Picture, colors: Colors, ratio: number): void {
  const { ctx } = plot;
  ctx.save();
  ctx.font = FONT.replace('11', String(11 * ratio));
  ctx.lineWidth = ratio;
  if (picture.lead) paintLead(plot, picture.lead, colors, ratio);
  paintVerticals(plot, picture, colors, ratio);
  paintLevels(plot, picture, colors, ratio);
  ctx.setLineDash([]);
  ctx.lineWidth = 1.25 * ratio;
  ctx.strokeStyle = colors.danger;
  for (const { x, y } of picture.rings) {
    ctx.beginPath();
    ctx.arc(plot.valToPos(x, 'x', true), plot.valToPos(y, 'y', true), 6 * ratio, 0, 2 * Math.PI);
    ctx.stroke();
  }
  ctx.restore();
}

function paintLead({ ctx, bbox }: uPlot, label: string, colors: Colors, ratio: number): void {
  const width = LEAD_WIDTH * ratio;
  ctx.save();
  ctx.globalAlpha = 0.16;
  ctx.fillStyle = colors.ink;
  ctx.fillRect(bbox.left, bbox.top, width, bbox.height);
  ctx.globalAlpha = 1;
  ctx.translate(bbox.left + width / 2, bbox.top + bbox.height - 6 * ratio);
  ctx.rotate(-Math.PI / 2);
  text(ctx, label, 0, ratio, 'left', 'middle');
  ctx.restore();
}

/** Vertical lines. A label that would overlap the previous one moves behind it, or is left out. */
function paintVerticals(plot: uPlot, { verticals }: Picture, colors: Colors, ratio: number): void {
  const { ctx, bbox } = plot;
  const end = bbox.left + bbox.width;
  let free = Number.NEGATIVE_INFINITY;
  ctx.setLineDash([]);
  for (const { x, label, ink } of verticals) {
    const at = Math.round(plot.valToPos(x, 'x', true)) + 0.5;
    ctx.strokeStyle = ctx.fillStyle = colors[ink];
    line(ctx, at, bbox.top - 4 * ratio, at, bbox.top + bbox.height);
    const { width } = ctx.measureText(label);
    const wanted = Math.max(bbox.left, Math.min(at - ratio, end - width));
    const from = Math.max(wanted, free);
    if (from > wanted + width || from + width > plot.ctx.canvas.width) continue;
    text(ctx, label, from, bbox.top - 5 * ratio, 'left', 'bottom');
    free = from + width + 6 * ratio;
  }
}

/** Dashed horizontal lines, with labels behind their ends. */
function paintLevels(plot: uPlot, { levels }: Picture, colors: Colors, ratio: number): void {
  const { ctx, bbox } = plot;
  const end = bbox.left + bbox.width;
  const lines = levels.map(({ y, label }) => ({ label, at: Math.round(plot.valToPos(y, 'y', true)) + 0.5 }));
  lines.sort((a, b) => a.at - b.at);
  const places = spreadLabels(
    lines.map(({ at }) => at),
    LINE_HEIGHT * ratio,
    bbox.top,
    bbox.top + bbox.height,
  );
  ctx.strokeStyle = colors.muted;
  ctx.fillStyle = colors.ink;
  ctx.setLineDash([3 * ratio, 3 * ratio]);
  lines.forEach(({ at, label }, i) => {
    line(ctx, bbox.left, at, end, at);
    text(ctx, label, end + 5 * ratio, places[i], 'left', 'middle');
  });
}

function line(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

function text(
  ctx: CanvasRenderingContext2D,
  content: string,
  x: number,
  y: number,
  align: CanvasTextAlign,
  baseline: CanvasTextBaseline,
): void {
  ctx.textAlign = align;
  ctx.textBaseline = baseline;
  ctx.fillText(content, x, y);
}
