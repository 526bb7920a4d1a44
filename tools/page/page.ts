// The script of the blank page that tools open: one task, named by the request.

import { type AnswerRequest, answerIds } from './answer_ids';
import { answerTerminal } from './bridge';
import { type GenerateRequest, generate } from './generate';
import { type LoadRequest, timeLoad } from './time_load';

export type PageRequest =
  | ({ task: 'generate' } & GenerateRequest)
  | ({ task: 'answer' } & AnswerRequest)
  | ({ task: 'load' } & LoadRequest);

answerTerminal<PageRequest>(async (request, tell, signal) => {
  switch (request.task) {
    case 'generate':
      return { runs: await generate(request, tell, signal) };
    case 'answer':
      return { answer: await answerIds(request) };
    case 'load':
      return { loaded: await timeLoad(request) };
    default:
      throw request satisfies never;
  }
});
