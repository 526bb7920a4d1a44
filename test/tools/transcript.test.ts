// Events as a terminal shows them.

import { expect, test } from 'vitest';
import { Transcript } from '../../tools/lib/generate/transcript';
import { heard } from '../engine/doubles/heard_run';
import { tokenEvent } from '../metrics/events';

type Event = Parameters<Transcript['add']>[0];

const token = (text: string): Event => tokenEvent({ text });
const call = (index: number, text: string, name?: string): Event => ({
  type: 'tool-call',
  index,
  ...(name && { id: `call_${index}`, name }),
  arguments: text,
});

function shown(events: readonly Event[]) {
  const transcript = new Transcript();
  const text = { answer: '', thinking: '', complaint: '' };
  for (const event of events) for (const [channel, piece] of transcript.add(event)) text[channel] += piece;
  return text;
}

test('an answer of text alone is its text', () => {
  expect(shown([token('Once'), token(''), token(' upon'), { ...heard.done, text: ' a' }])).toEqual({
    answer: 'Once upon a',
    thinking: '',
    complaint: '',
  });
});

test('thinking is apart and ends with an empty line', () => {
  const events = [token(''), { type: 'reasoning', text: 'Hm' } as const, { type: 'reasoning', text: '.' } as const];
  expect(shown([...events, token('Yes')])).toEqual({ answer: 'Yes', thinking: 'Hm.\n\n', complaint: '' });
  expect(shown(events).thinking).toBe('Hm.');
});

test('calls have lines of their own, and their arguments come as they are written', () => {
  const { answer } = shown([
    token('I look.'),
    token(''),
    call(0, '', 'weather'),
    token(''),
    call(0, '{"city":'),
    call(0, '"Oslo"}'),
    call(1, '{}', 'time'),
    { ...heard.done, text: '' },
  ]);
  expect(answer).toBe('I look.\n→ weather({"city":"Oslo"})\n→ time({})\n');
});

test('a call that cannot be made is a complaint with what the model wrote', () => {
  const error: Event = { type: 'tool-call-error', index: 0, message: 'No JSON.', text: 'weather(Oslo)' };
  expect(shown([call(0, '{', 'weather'), error])).toEqual({
    answer: '→ weather({)\n',
    thinking: '',
    complaint: 'Call 1 cannot be made: No JSON.\nweather(Oslo)\n',
  });
});

test('a loss and its end are lines of their own beside the answer', () => {
  const loss = { type: 'interrupted', code: 'device-lost', message: 'The GPU was lost.' } as const;
  const end = { type: 'recovered', message: 'It goes on.', backend: 'webgpu', pauseMs: 1_840 } as const;
  expect(shown([token('Once'), loss, end, token(' upon')])).toEqual({
    answer: 'Once upon',
    thinking: '',
    complaint: '\n[The GPU was lost. Loading the model again.]\n[The answer goes on after 1.8 s.]\n',
  });
});
