// A meter of attention with made-up times, for tests of the search.

import { vi } from 'vitest';
import type { AttentionKernel } from '../../src/attention/attention';
import type { AttentionCandidate, TunedPass } from '../../src/tune/attention/attention_candidates';
import { AttentionMeter } from '../../src/tune/attention/attention_meter';
import type { Meter } from '../../src/tune/tuner';

/** Makes each candidate take `time` milliseconds. A text is the reason of a refusal. */
export function mockMeter(time: (candidate: AttentionCandidate, pass: TunedPass) => number | string): void {
  vi.spyOn(AttentionMeter.prototype, 'at').mockImplementation((pass, { budgetMs }) => {
    let measured: number | string = 0;
    const meter: Meter<AttentionCandidate, AttentionKernel> = {
      compile: async () => ({}) as AttentionKernel,
      async verify(_, candidate) {
        measured = time(candidate, pass);
        return typeof measured === 'string' ? measured : null;
      },
      time: async () => [measured as number],
      inTurn: false,
      repeatBelowMs: budgetMs,
    };
    return meter;
  });
}
