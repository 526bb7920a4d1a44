// Draws documents from random schemas and asks another validator: whatever the automaton writes has to be valid.

import { isIPv4, isIPv6 } from 'node:net';
import { Ajv2020 } from 'ajv/dist/2020';
import { ConstraintError } from '../../../src/errors';
import { compileGrammar } from '../../../src/grammar/compile/compile';
import { schemaGrammar } from '../../../src/grammar/schema/json_schema';
import { randomSource } from '../../random';
import { documentSource } from '../documents';
import { randomSchema } from './random_schema';

/** What ajv-formats would check, in the words of the standards. */
function formats(): [string, (text: string) => boolean][] {
  const isDay = (text: string) => {
    const [year, month, day] = text.split('-').map(Number);
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    return /^\d{4}-\d\d-\d\d$/.test(text) && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  };
  const isTime = (text: string) =>
    /^\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) &&
    !Number.isNaN(Date.parse(`2000-01-01T${text.slice(0, 8)}Z`));
  const isMail = (text: string) => /^[^@\s]{1,65}@[^@\s]+\.[^@\s.]+$/.test(text) && text.length <= 254;
  const isUriReference = (text: string) => /^([!#$&-;=?-Z[\]_a-z~]|%[0-9A-Fa-f]{2})*$/.test(text);
  // Each unit has the next one behind it, or none of these.
  const isDuration = (text: string) => {
    const units = (part: string) => part.replace(/\d+/g, '');
    const [date, time, ...more] = text.slice(1).split('T');
    const isRun = (part: string, all: string) => part !== '' && /^(\d+[A-Z])+$/.test(part) && all.includes(units(part));
    if (text[0] !== 'P' || more.length > 0) return false;
    if (time === undefined) return isRun(date, 'YMD') || /^\d+W$/.test(date);
    return (date === '' || isRun(date, 'YMD')) && isRun(time, 'HMS');
  };
  return [
    ['uri', (text) => isUriReference(text) && /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text)],
    ['uri-reference', (text) => isUriReference(text) && /^(?:[A-Za-z][A-Za-z0-9+.-]*:|[^:]*(?:[/?#]|$))/.test(text)],
    ['date', isDay],
    ['time', isTime],
    ['date-time', (text) => isDay(text.slice(0, 10)) && text[10] === 'T' && isTime(text.slice(11))],
    ['uuid', (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)],
    ['email', isMail],
    [
      'hostname',
      (text) => text.length <= 253 && text.split('.').every((label) => /^(?!-)[A-Za-z0-9-]{1,63}(?<!-)$/.test(label)),
    ],
    ['ipv4', isIPv4],
    ['ipv6', isIPv6],
    ['duration', isDuration],
  ];
}

export interface DrawCounts {
  documents: number;
  /** Schemas that were refused, by what the message says. */
  refused: Map<string, number>;
  /** What the other validator refuses: never any. */
  wrong: string[];
}

/** One schema for each seed, and some documents for each schema. */
export function drawDocuments(seeds: readonly number[], perSchema: number): DrawCounts {
  const counts: DrawCounts = { documents: 0, refused: new Map(), wrong: [] };
  const ajv = new Ajv2020({ strict: false });
  for (const [name, check] of formats()) ajv.addFormat(name, check);
  for (const seed of seeds) {
    const random = randomSource(seed);
    const schema = randomSchema(random);
    const options = { layout: random() < 0.5 ? 'free' : 'line', open: random() < 0.2 } as const;
    try {
      const draw = documentSource(compileGrammar(schemaGrammar(schema, options).grammar), random);
      const isValid = ajv.compile(schema);
      for (let i = 0; i < perSchema; i++) {
        counts.documents++;
        const text = draw();
        if (!isValid(JSON.parse(text))) counts.wrong.push(`seed ${seed}: ${text}`);
      }
    } catch (error) {
      if (!(error instanceof ConstraintError)) throw new Error(`seed ${seed}`, { cause: error });
      const reason = error.message.replace(/"[^"]*"|#\S*/g, '…');
      counts.refused.set(reason, (counts.refused.get(reason) ?? 0) + 1);
    }
  }
  return counts;
}
