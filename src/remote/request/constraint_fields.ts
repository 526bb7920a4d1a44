// The option `constraint` as the fields of each kind of server.

import type { Constraint } from '../../engine/protocol';
import { InvalidRequestError } from '../../errors';
import type { ServerKind } from '../options';

/** @throws InvalidRequestError for a constraint that the server has no field for */
export function constraintFields(constraint: Constraint, kind: ServerKind): object {
  switch (constraint.kind) {
    case 'json_object':
      return { response_format: { type: 'json_object' } };
    case 'json_schema':
      return {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'answer', schema: constraint.schema, strict: true },
        },
      };
    case 'regex':
      if (kind === 'vllm') return ofVllm('regex', constraint.source);
      if (kind === 'sglang') return { regex: constraint.source };
      break;
    case 'grammar':
      if (kind === 'vllm') return ofVllm('grammar', constraint.source);
      if (kind === 'sglang') return { ebnf: constraint.source };
      if (kind !== 'openai') return { grammar: constraint.source };
      break;
    case 'choice':
      if (kind === 'vllm') return ofVllm('choice', constraint.texts);
      if (kind === 'sglang') return { regex: constraint.texts.map(escapeRegex).join('|') };
      if (kind !== 'openai') return { grammar: `root ::= ${constraint.texts.map(quoteGbnf).join(' | ')}` };
      break;
  }
  throw new InvalidRequestError(
    `This server (${kind}) takes no constraint of the kind ${constraint.kind}. Use a json_schema.`,
    'constraint',
  );
}

/** The field since 0.12 (and before), and the one until 0.11. A version ignores the field that it does not know. */
function ofVllm(key: 'regex' | 'grammar' | 'choice', value: unknown): object {
  return { structured_outputs: { [key]: value }, [`guided_${key}`]: value };
}

function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** A literal of GBNF. Characters beyond ASCII stand for themselves. */
function quoteGbnf(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&').replace(/\p{Cc}/gu, (letter) => {
    return `\\x${letter.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `"${escaped}"`;
}
