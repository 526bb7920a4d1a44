// The constraint of one answer: the automaton as far as the vocabulary can write it, and the place before each token.

import { type Place, START, walk, walkToken } from '../../../cpu/grammar';
import { ConstraintError, InvalidRequestError, VivaceError } from '../../../errors';
import { controlBytes } from '../../../grammar/answer/control_bytes';
import type { Automaton } from '../../../grammar/automaton';
import { restrictBytes } from '../../../grammar/restrict';
import type { Constrained } from '../turns/beside';
import type { AnswerOptions } from './generate_options';
import { patiently } from './patience';
import type { Prompt } from './prompt';
import type { Session } from './session';
import { readVocabulary, type Vocabulary } from './vocabulary';

type Options = Pick<AnswerOptions, 'minTokens' | 'ignoreEos'>;

/**
 * @param prompt of the answer, which goes on with a message where the conversation says so
 * @throws ConstraintError for what this model cannot write, InvalidRequestError for options that rule it out
 */
export function constrainAnswer(session: Session, asked: Automaton, prompt: Prompt, options: Options): Constrained {
  if (options.minTokens > 0 || options.ignoreEos) {
    const option = options.ignoreEos ? 'ignoreEos' : 'minTokens';
    throw new InvalidRequestError(`A constraint says where an answer may end. Leave ${option} out.`, option);
  }
  const { vocabSize, tokenizer } = session;
  if (!tokenizer.eosIds.some((id) => id < vocabSize)) {
    throw new ConstraintError('', 'This model has no token that ends an answer, so that it cannot keep a constraint.');
  }
  const vocabulary = vocabularyOf(session);
  const automaton = restrictBytes(asked, vocabulary.writes);
  if (!automaton) {
    throw new ConstraintError('', "This model's vocabulary can write no text that the constraint allows.");
  }
  return begun(session, automaton, prompt, vocabulary);
}

/**
 * The same for an answer whose text is free and whose calls are constrained. Null where this model or this prompt does
 * not allow it, so that calls are free, too.
 */
export function constrainCalls(session: Session, automaton: Automaton, prompt: Prompt): Constrained | null {
  const vocabulary = vocabularyOf(session);
  const { writes } = vocabulary;
  if (writes.subarray(FIRST_LETTER, LAST_LETTER + 1).includes(0)) return null;
  try {
    return begun(session, automaton, prompt, vocabulary);
  } catch (error) {
    if (error instanceof VivaceError) return null;
    throw error;
  }
}

/** The letters of ASCII, without which no JSON can be written. */
const [FIRST_LETTER, LAST_LETTER] = [0x20, 0x7e];

function vocabularyOf(session: Session): Vocabulary {
  const { tokenizer, vocabSize, form } = session;
  session.vocabulary ??= patiently(vocabSize, () => readVocabulary(tokenizer, vocabSize, form?.controls ?? []));
  return session.vocabulary;
}

function begun(session: Session, automaton: Automaton, prompt: Prompt, vocabulary: Vocabulary): Constrained {
  const { tokens, bytesOf, dropsSpace } = vocabulary;
  const start = startOf(automaton, prompt, dropsSpace && !prompt.goesOn, session.form?.controls ?? []);
  let known = { ids: [] as number[], place: start }; // an answer that takes turns asks again and again
  const placeAfter = (ids: ArrayLike<number>) => {
    if (known.ids.length > ids.length || known.ids.some((id, i) => id !== ids[i])) known = { ids: [], place: start };
    let { place } = known;
    for (let i = known.ids.length; i < ids.length; i++) {
      const next = walkToken(automaton, place, bytesOf(ids[i]));
      if (!next) throw new InvalidRequestError(`resumed.ids: the constraint refuses token ${i}.`);
      place = next;
    }
    known = { ids: Array.from(ids), place };
    return place;
  };
  return { automaton, tokens, placeAfter };
}

/**
 * The place before the first token of the answer. The prompt may hold its beginning: opened thinking, a call, or a
 * message that goes on.
 */
function startOf(automaton: Automaton, prompt: Prompt, dropsSpace: boolean, controls: readonly string[]): Place {
  const { chat } = prompt;
  const continued = chat?.continueLast ? (chat.messages.at(-1)?.content ?? '') : '';
  const text = prompt.begun || continued;
  const place = patiently(text.length, () => walk(automaton, START, controlBytes(text, controls)));
  if (place) return dropsSpace ? { ...place, dropsSpace } : place;
  if (prompt.begun === '') throw new ConstraintError('', 'The message to go on with does not fit the constraint.');
  throw new InvalidRequestError(
    'A constraint holds from the first token on, but this answer begins with thinking or a call that it does not know. ' +
      'Use thinking off and toolChoice auto, or a model that does not always think.',
    'constraint',
  );
}
