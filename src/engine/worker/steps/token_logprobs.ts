// Log probabilities with the names of their tokens.

import type { Logprobs } from '../../../sampling/logprobs';
import type { Tokenizer } from '../../../text/tokenizer';
import type { TokenEvent, TokenLogprob } from '../../protocol';

export type TokenNames = Pick<Tokenizer, 'tokenText' | 'tokenBytes'>;

export function tokenLogprobs(names: TokenNames, id: number, { chosen, top }: Logprobs): TokenEvent['logprobs'] {
  const named = (token: number, logprob: number): TokenLogprob => ({
    id: token,
    token: names.tokenText(token),
    bytes: [...names.tokenBytes(token)],
    logprob,
  });
  return { chosen: named(id, chosen), top: top.map((each) => named(each.id, each.logprob)) };
}
