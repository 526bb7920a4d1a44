// What a person can do about a server that does not answer. Pure.

import { codeOf } from '../shared/advice';
import { isMixed, type ServerChoice } from './server_choice';
import { say } from './tongue';

/** @param page the address of the page; @param hasKey whether a key was sent */
export function nextStep(error: unknown, choice: ServerChoice, page: string, hasKey: boolean): string {
  const { next } = say();
  const { status } = Object(error) as { status?: number };
  const facts = { host: new URL(choice.address).host, page: new URL(page).origin };
  switch (codeOf(error)) {
    case 'server-unreachable':
      return isMixed(choice, page) ? next.mixed(facts) : next.unreachable(facts);
    case 'server-key':
      return hasKey ? next.wrongKey : next.noKey;
    case 'server-busy':
      return next.busy;
    case 'server-failed':
      return status === 404 || status === 405 ? next.notFound : next.failed;
    case 'server-answer':
      return next.wrongKind;
    case 'server-model':
      return next.model;
    case 'server-silent':
    case 'server-cut':
      return next.silent;
    default:
      return next.other;
  }
}
