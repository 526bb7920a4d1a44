// What clients of OpenAI's interface cost the main thread, as a table. Pure.

import type { BenchReport, SdkAnswer } from '../../report';
import { figure, grid } from './grid';

const NONE = '-';

/** The upper one of two in the middle. */
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const speed = ({ tokens, ms }: SdkAnswer) => (1000 * tokens) / ms;
const taskUs = ({ tokens, taskMs }: SdkAnswer) => (1000 * taskMs) / tokens;
const tokensPerChunk = ({ tokens, chunks }: SdkAnswer) => (chunks === null ? [] : [tokens / chunks]);

export function sdkTable({ model, sameText, rows }: Extract<BenchReport, { suite: 'sdk' }>): string {
  const answers = rows.flatMap((row) => row.answers);
  const counts = [...new Set(answers.map(({ tokens }) => tokens))].join(' or ') || 'no';
  const title = `${model}, ${counts} tokens an answer; microseconds of the main thread a token, median of all rounds`;
  const head = ['reader', 'rounds', 'tok/s', 'us', 'lowest', 'highest', 'tokens a chunk'];
  const cells = rows.map(({ reader, answers }) => {
    if (answers.length === 0) return [reader, '0', ...Array(head.length - 2).fill(NONE)];
    const us = answers.map(taskUs);
    const figures = [median(answers.map(speed)), median(us), Math.min(...us), Math.max(...us)];
    const chunks = answers.flatMap(tokensPerChunk);
    return [reader, String(answers.length), ...figures.map(figure), chunks.length > 0 ? figure(median(chunks)) : NONE];
  });
  const verdict = sameText ? 'All texts are the same.' : 'The texts differ.';
  return [title, grid(head, cells), ...(answers.length > 0 ? [verdict] : [])].join('\n');
}
