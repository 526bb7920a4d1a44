// Paints the marks around the series of a picture: the bar of prefill, lines with labels, arrows over stalled tokens.

import type uPlot from 'uplot';
import { type Ink, isWithin, type Picture } from '../views/picture';

/** Colors as CSS text. `fill` is the area below a line. */
export type Colors = Record<Ink | 'fill', string>;

/** Width of the prefill bar in CSS pixels. */
export const LEAD_WIDTH = 17;
/** Height of a line of labels, as a multiple of the size of its letters. */
const LINE_HEIGHT = 7 / 6;
/** An arrow over a stalled token in CSS pixels: its distance from the point, its height, and half of its width. */
const ARROW = { above: 4, height: 6, half: 4 } as const;

/** The letters of labels and axes. */
export interface Font {
  /** Size in CSS pixels. */
  px: number;
  family: string;
}

/** The colors and the font of marks. `ratio` is the number of canvas pixels per CSS pixel. */
interface Brush {
  colors: Colors;
  font: Font;
  ratio: number;
}

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

/** Paints on the canvas. What lies outside the shown range is left out. */
export function paintMarks(plot: uPlot, picture: Picture, brush: Brush): void {
  const { ctx } = plot;
  const { font, ratio } = brush;
  ctx.save();
  ctx.font = `${font.px * ratio}px ${font.family}`;
  ctx.lineWidth = ratio;
  if (picture.lead) paintLead(plot, picture.lead, brush);
  paintVerticals(plot, picture, brush);
  paintLevels(plot, picture, brush);
  paintStalls(plot, picture, brush);
  ctx.restore();
}

/** Arrows above the points, so that they hide no data. */
function paintStalls(plot: uPlot, { stalls, x: shown }: Picture, { colors, ratio }: Brush): void {
  const { ctx, bbox } = plot;
  ctx.fillStyle = colors.danger;
  for (const { x, y } of stalls) {
    if (!isWithin(shown, x)) continue;
    const at = plot.valToPos(x, 'x', true);
    const tip = Math.max(plot.valToPos(y, 'y', true), bbox.top) - ARROW.above * ratio;
    ctx.beginPath();
    ctx.moveTo(at, tip);
    ctx.lineTo(at - ARROW.half * ratio, tip - ARROW.height * ratio);
    ctx.lineTo(at + ARROW.half * ratio, tip - ARROW.height * ratio);
    ctx.fill();
  }
}

function paintLead({ ctx, bbox }: uPlot, label: string, { colors, ratio }: Brush): void {
  const width = LEAD_WIDTH * ratio;
  ctx.save();
  ctx.globalAlpha = 0.16;
  ctx.fillStyle = colors.ink;
  ctx.fillRect(bbox.left, bbox.top, width, bbox.height);
  ctx.globalAlpha = 1;
  ctx.translate(bbox.left + width / 2, bbox.top + bbox.height - 6 * ratio);
  ctx.rotate(-Math.PI / 2);
  text(ctx, label, 0, ratio, 'left', 'middle', bbox.height - 12 * ratio);
  ctx.restore();
}

/** Vertical lines. A label that would overlap the previous one moves behind it, or is left out. */
function paintVerticals(plot: uPlot, { verticals, x: shown }: Picture, { colors, ratio }: Brush): void {
  const { ctx, bbox } = plot;
  const end = bbox.left + bbox.width;
  let free = Number.NEGATIVE_INFINITY;
  ctx.setLineDash([]);
  for (const { x, label, ink } of verticals) {
    if (!isWithin(shown, x)) continue;
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

/** Dashed horizontal lines, with labels behind their ends. A stroke joins a line to a label that had to move. */
function paintLevels(plot: uPlot, { levels, y }: Picture, { colors, font, ratio }: Brush): void {
  const { ctx, bbox } = plot;
  const end = bbox.left + bbox.width;
  const shown = levels.filter((level) => isWithin(y, level.y)).reverse(); // of two at one place the higher is on top
  const lines = shown.map(({ y, label }) => ({ label, at: Math.round(plot.valToPos(y, 'y', true)) + 0.5 }));
  lines.sort((a, b) => a.at - b.at);
  const places = spreadLabels(
    lines.map(({ at }) => at),
    LINE_HEIGHT * font.px * ratio,
    bbox.top,
    bbox.top + bbox.height,
  );
  ctx.strokeStyle = colors.muted;
  ctx.fillStyle = colors.ink;
  lines.forEach(({ at, label }, i) => {
    ctx.setLineDash([3 * ratio, 3 * ratio]);
    line(ctx, bbox.left, at, end, at);
    ctx.setLineDash([]);
    if (Math.abs(places[i] - at) > ratio) line(ctx, end, at, end + 4 * ratio, places[i]);
    text(ctx, label, end + 5 * ratio, places[i], 'left', 'middle');
  });
}

function line(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

/** @param most the width that it is condensed to if it is wider */
function text(
  ctx: CanvasRenderingContext2D,
  content: string,
  x: number,
  y: number,
  align: CanvasTextAlign,
  baseline: CanvasTextBaseline,
  most?: number,
): void {
  ctx.textAlign = align;
  ctx.textBaseline = baseline;
  ctx.fillText(content, x, y, most);
}
