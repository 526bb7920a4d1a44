// The script of the blank page that tools open: one task, named by the request.

import { type AnswerRequest, answerIds } from './answer_ids';
import { answerTerminal } from './bridge';
import { type GenerateRequest, generate } from './generate';
import { type CrashRequest, outliveCrash } from './outlive_crash';
import { type LoadRequest, timeLoad } from './time_load';

export type PageRequest =
  | ({ task: 'generate' } & GenerateRequest)
  | ({ task: 'answer' } & AnswerRequest)
  | ({ task: 'load' } & LoadRequest)
  | ({ task: 'crash' } & CrashRequest);

answerTerminal<PageRequest>(async (request, tell, signal) => {
  switch (request.task) {
    case 'generate':
      return { runs: await generate(request, tell, signal) };
    case 'answer':
      return { answer: await answerIds(request) };
    case 'load':
      return { loaded: await timeLoad(request) };
    case 'crash':
      return { outlived: await outliveCrash(request, tell) };
    default:
      throw request satisfies never;
  }
});
