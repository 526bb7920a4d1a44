// Answers that do not end before a test acts, however busy the machine is.

import type { Page } from 'playwright-core';

interface HoldingWindow {
  /** The tokens that the page hears of an answer before it hears no more of that answer from its worker. */
  mostTokens?: number;
}

/** Drops the messages of a page's worker after so many tokens of each answer. Comes before the answers begin. */
export const holdAnswers = (page: Page, mostTokens: number): Promise<void> => page.evaluate(install, mostTokens);

/** Runs in the page, so it must not use anything outside. */
function install(mostTokens: number): void {
  const scope = window as unknown as HoldingWindow;
  const isInstalled = scope.mostTokens !== undefined;
  scope.mostTokens = mostTokens;
  if (isInstalled) return;
  const { set, get } = Object.getOwnPropertyDescriptor(MessagePort.prototype, 'onmessage')!;
  const held = (hear: (event: MessageEvent) => void) => {
    let heard = 0;
    return (event: MessageEvent) => {
      if (heard < scope.mostTokens!) hear(event);
      if (Array.isArray(event.data)) heard += event.data.filter(({ type }) => type === 'token').length;
    };
  };
  Object.defineProperty(MessagePort.prototype, 'onmessage', {
    get,
    set(hear) {
      set!.call(this, hear && held(hear));
    },
  });
}
