// The wires between a chat and a TBT panel: the same for the chat page, the script tag and the elements.

import { type ChatEngine, type Engine, type EngineEvent, type EngineInfo, engineHere } from '../../engine/engine';
import type { VivaceChat } from './chat';
import type { Tuning } from './chat_parts';
import type { AskedRun } from './chat_session';

/**
 * The panel as the chat knows it. <vivace-metrics> of another room implements it; its script may come later, and until
 * then the element has none of the methods.
 */
export interface Panel extends HTMLElement {
  engine: Engine | null;
  info: EngineInfo | null;
  /** The address of the model, or null for files. Runs that begin now hold it. */
  address?: string | null;
  /** Any change makes the charts read their colors again. */
  theme: string;
  /** Another model was loaded, or the same one again: `info` is of the new engine. */
  loaded?(): void;
  /** Begins the record of an answer. */
  reset?(run: AskedRun): void;
  /** Shows the run with this id, which may be an earlier one. */
  openRun?(id: string): void;
  /** Keeps and shows the runs of exported files. */
  importRuns?(files: readonly File[]): Promise<void>;
  record?(event: EngineEvent): void;
  end?(): void;
  cancelTuning?(): void;
}

/**
 * Makes the panel follow the chat's engine and answers, and the chat wait for the panel's tuner. An abort of `signal`
 * parts the two: it cancels a tuning under way, since nothing would tell the chat of its end.
 */
export function connectPanel(chat: VivaceChat, panel: Panel, signal?: AbortSignal): void {
  const on = <T>(target: EventTarget, name: string, listener: (detail: T) => void) =>
    target.addEventListener(name, (event) => listener((event as CustomEvent<T>).detail), { signal });
  let last: ChatEngine | null = null;
  const follow = () => {
    const engine = chat.engine ?? null;
    panel.engine = engineHere(engine);
    if (!engine) return; // the figures stay while the next model loads
    panel.info = engine.info;
    if (last && last !== engine) panel.loaded?.();
    last = engine;
  };
  let isTuning = false;
  on(chat, 'vivace-engine', follow);
  on(chat, 'vivace-health', follow); // a recovery may change the info
  let begun: Panel['reset']; // a panel that comes in the middle of an answer waits for the next one
  on(chat, 'vivace-run', (run: AskedRun) => {
    begun = panel.reset;
    panel.reset?.(run);
  });
  on(chat, 'vivace-event', (event: EngineEvent) => begun && panel.record!(event));
  on(chat, 'vivace-end', () => begun && panel.end!());
  on(chat, 'vivace-open-run', (id: string) => panel.openRun?.(id));
  on(chat, 'vivace-cancel-tuning', () => panel.cancelTuning?.());
  on(panel, 'vivace-tuning', (progress: Tuning | null) => {
    chat.tuning = progress;
    isTuning = progress !== null;
  });
  chat.opensRuns = true;
  const part = () => {
    chat.opensRuns = false;
    if (!isTuning) return;
    panel.cancelTuning?.();
    chat.tuning = null;
  };
  signal?.addEventListener('abort', part, { once: true });
  follow();
}
