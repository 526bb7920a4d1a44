// The service worker of the page: answers for the page's own files, and for nothing else. A new one waits until no page
// of the old one is open.

import { BUILD, FILES, REPLACEABLE } from './kept_files';
import { Shell } from './shell';

/** The used parts of a service worker's events and global scope, which the DOM's types lack. */
interface WaitEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface AnswerEvent extends WaitEvent {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}
interface Scope extends EventTarget {
  readonly registration: { readonly scope: string };
}

const scope = globalThis as unknown as Scope;
const build = { name: BUILD, files: FILES, replaceable: REPLACEABLE };
const shell = new Shell(build, scope.registration.scope, caches, (...request) => fetch(...request));

scope.addEventListener('install', (event) => (event as WaitEvent).waitUntil(shell.install()));
scope.addEventListener('activate', (event) => (event as WaitEvent).waitUntil(shell.clean()));
scope.addEventListener('fetch', (event) => {
  const { request } = event as AnswerEvent;
  const answer = shell.answer(request);
  if (answer) (event as AnswerEvent).respondWith(answer);
});
/** A page asks whether it is of this build. */
scope.addEventListener('message', (event) => {
  const { ports } = event as MessageEvent;
  ports[0]?.postMessage(BUILD);
});
