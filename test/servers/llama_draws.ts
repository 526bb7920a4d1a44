// Documents that llama.cpp draws under a grammar, with the tokens that it allows at each position.
//
// It masks only where what it has drawn first does not fit. So a token that never fits is made certain, and the
// probabilities that it tells then are those behind the mask: above zero is allowed.

import { STORYTELLER } from '../grammar/peers/storyteller_tokens';
import type { LlamaServer } from './llama_server';

const { tokens, never, isTold } = STORYTELLER;
const MOST = 24;
const ASK = {
  prompt: 'Once upon a time',
  stream: true,
  max_tokens: MOST,
  temperature: 2,
  samplers: ['temperature'],
  logprobs: tokens.length,
  post_sampling_probs: true,
};

/** A token that was drawn, and all that might have been. */
export interface MaskedToken {
  id: number;
  allowed: ReadonlySet<number>;
}

/** Biases, in logits: bytes that cannot be told are never drawn, half characters hardly ever. */
function biases(closing: number): [id: number, bias: number | false][] {
  return tokens.flatMap((bytes, id): [number, number | false][] => {
    if (id === never) return [[id, 1000]];
    if (!isTold[id]) return [[id, false]];
    if (bytes.length === 1 && bytes[0] >= 0x80) return [[id, -40]];
    return closing !== 0 && /["\]})!.\n]/.test(new TextDecoder().decode(bytes)) ? [[id, closing]] : [];
  });
}

/** @param closing logits that marks at the end of something get more, so that documents end */
export async function drawMasked(
  { address }: LlamaServer,
  grammar: string,
  { seed, closing }: { seed: number; closing: number },
): Promise<MaskedToken[]> {
  const body = JSON.stringify({ ...ASK, grammar, seed, logit_bias: biases(closing) });
  const answer = await (await fetch(`${address}/completions`, { method: 'POST', body })).text();
  if (!answer.endsWith('data: [DONE]\n\n')) throw new Error(answer.slice(0, 500));
  const chunks = answer.split('\n\n').filter((line) => line.startsWith('data: {'));
  return chunks.flatMap((line) => tokensOf(JSON.parse(line.slice('data: '.length))));
}

interface Told {
  id: number;
  prob: number;
  top_probs: Told[];
}

function tokensOf(chunk: { choices: { logprobs: { content: Told[] } | null }[] }): MaskedToken[] {
  return (chunk.choices[0]?.logprobs?.content ?? []).map(({ id, top_probs }) => ({
    id,
    allowed: new Set(top_probs.filter(({ prob }) => prob > 0).map((one) => one.id)),
  }));
}
