// The constraint of one answer: the automaton as far as the vocabulary can write it, and the place before each token.

import { type Place, START, walk, walkToken } from '../../cpu/grammar';
import { ConstraintError, InvalidRequestError } from '../../errors';
import type { Automaton } from '../../grammar/automaton';
import { restrictBytes } from '../../grammar/restrict';
import type { Constraint } from '../backend/backend';
import type { AnswerOptions } from './generate_options';
import { patiently } from './patience';
import type { Prompt } from './prompt';
import type { Session } from './session';
import { readVocabulary } from './vocabulary';

export interface Constrained extends Constraint {
  /** The place after some ids of the answer. @throws InvalidRequestError for an id that is refused */
  placeAfter(ids: ArrayLike<number>): Place;
}

/**
 * @param prompt of the answer, which goes on with a message where the conversation says so
 * @throws ConstraintError for what this model cannot write, InvalidRequestError for options that rule it out
 */
export function constrainAnswer(
  session: Session,
  asked: Automaton,
  prompt: Prompt,
  options: Pick<AnswerOptions, 'minTokens' | 'ignoreEos' | 'thinking'>,
): Constrained {
  checkOptions(options, prompt);
  const { tokenizer, vocabSize } = session;
  if (!tokenizer.eosIds.some((id) => id < vocabSize)) {
    throw new ConstraintError('', 'This model has no token that ends an answer, so that it cannot keep a constraint.');
  }
  session.vocabulary ??= patiently(vocabSize, () => readVocabulary(tokenizer, vocabSize));
  const { tokens, writes, dropsSpace } = session.vocabulary;
  const automaton = restrictBytes(asked, writes);
  if (!automaton) {
    throw new ConstraintError('', "This model's vocabulary can write no text that the constraint allows.");
  }
  const start = startOf(automaton, prompt, dropsSpace && !prompt.goesOn);
  const placeAfter = (ids: ArrayLike<number>) =>
    Array.from(ids).reduce((place, id, i) => {
      const next = walkToken(automaton, place, tokenizer.tokenBytes(id));
      if (next) return next;
      throw new InvalidRequestError(`resumed.ids: the constraint refuses token ${i}.`);
    }, start);
  return { automaton, tokens, placeAfter };
}

function checkOptions(
  { minTokens, ignoreEos, thinking }: Parameters<typeof constrainAnswer>[3],
  { begun }: Prompt,
): void {
  if (minTokens > 0 || ignoreEos) {
    throw new InvalidRequestError('A constraint says where an answer may end. Leave minTokens and ignoreEos out.');
  }
  if (begun === '' && thinking !== 'on') return;
  throw new InvalidRequestError(
    'A constraint holds from the first token on, but this answer begins with thinking or a call. Use thinking off and ' +
      'toolChoice auto, or a model that does not always think.',
  );
}

/** The place before the first token of the answer. A message that goes on is the beginning of the document. */
function startOf(automaton: Automaton, { chat }: Prompt, dropsSpace: boolean): Place {
  const begun = chat?.continueLast ? (chat.messages.at(-1)?.content ?? '') : '';
  const place = walk(automaton, START, new TextEncoder().encode(begun));
  if (place) return dropsSpace ? { ...place, dropsSpace } : place;
  throw new ConstraintError('', 'The message to go on with does not fit the constraint.');
}
