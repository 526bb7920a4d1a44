// `bench -- step` as tables: fused steps alone and beside a busy page, and how far they are from plain ones. Pure.

import type { Agreement, BenchReport, LaunchProbe, StepRow, StepRun } from '../../report';
import { figure, grid } from './grid';

type StepReport = Extract<BenchReport, { suite: 'step' }>;

const yesNo = (value: boolean) => (value ? 'yes' : 'no');

function runTable({ alone, beside, sameIds }: StepRow): string {
  const cells = (title: string, run: StepRun | null, same: string) => {
    if (!run) return [];
    const { steps, tokensPerSecond, tbtMs, giveUps, stayedFused } = run;
    const gaps = [tbtMs.p50, tbtMs.p99, tbtMs.max].map((gap) => (gap === null ? '-' : figure(gap)));
    return [[title, String(steps), figure(tokensPerSecond), ...gaps, String(giveUps), yesNo(stayedFused), same]];
  };
  const head = ['fused steps', 'steps', 'tok/s', 'TBT p50', 'p99', 'max', 'give-ups', 'stayed fused', 'same ids'];
  const same = sameIds === null ? '-' : yesNo(sameIds);
  return grid(head, [...cells('alone', alone, '-'), ...cells('beside a busy page', beside, same)]);
}

function neighborLine({ neighbor }: StepRow): string[] {
  if (!neighbor) return [];
  const { submits, submitMs, ranMs, lost } = neighbor;
  const work = `${submits} submits of ${figure(submitMs)} ms in ${figure(ranMs / 1000)} s`;
  return [`the busy page: ${work}${lost ? `; its device failed: ${lost}` : ''}`];
}

function textTable({ fusedPlain, plainExact }: StepRow, tokens: number): string[] {
  if (!fusedPlain || !plainExact) return [];
  const cells = (title: string, { texts, agreed, firsts, giveUps }: Agreement) => {
    const differ = firsts.filter((first) => first !== null).sort((a, b) => a - b);
    return [title, String(agreed), String(texts), String(giveUps), differ.join(', ') || '-'];
  };
  const head = [`greedy texts of ${tokens} tokens`, 'agree', 'of', 'give-ups', 'first tokens that differ'];
  return [grid(head, [cells('fused and plain', fusedPlain), cells('plain and f32', plainExact)])];
}

function distanceLine({ distance }: StepRow): string[] {
  if (!distance) return [];
  const { tokens, x, logits } = distance;
  return [
    `a step after ${tokens} tokens, fused from plain: x ${figure(100 * x)} %, logits ${figure(100 * logits)} % away`,
  ];
}

function probeTable(probes: readonly LaunchProbe[]): string {
  const head = ['threads', 'bytes', 'ran at once', 'probe, ms', 'workgroups: microseconds of a hand-over'];
  const cells = probes.map(({ threads, bytes, resident, rounds, ms }) => {
    const us = rounds?.map((round) => `${round.groups}: ${figure(round.us)}`).join(', ') ?? 'gave up';
    return [String(threads), String(bytes), String(resident), figure(ms), us || '-'];
  });
  return `workgroups that wait for one another\n${grid(head, cells)}`;
}

export function stepTables({ quant, kv, tokens, probes, rows }: StepReport): string[] {
  const models = rows.map((row) => {
    const { model, launch, refused } = row;
    const groups = launch ? `; fused steps of ${launch.groups} workgroups of ${launch.threads} threads` : '';
    return [
      `${model}${quant ? `, ${quant} weights` : ''}, KV ${kv}${groups} (milliseconds)`,
      ...(row.alone ? [runTable(row)] : []),
      ...neighborLine(row),
      ...textTable(row, tokens),
      ...distanceLine(row),
      ...(refused ? [`${refused.code === 'device-lost' ? 'device lost' : 'refused'}: ${refused.message}`] : []),
    ].join('\n');
  });
  return [probeTable(probes), ...models];
}
