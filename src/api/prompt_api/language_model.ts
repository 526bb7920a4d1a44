// The package's entry vivace/prompt-api: Chrome's `LanguageModel` over an engine of this page, so that pages written
// for the browser's own model run with any model. Text only.

import { notSupported, orAborted } from './errors';
import { dictionary, readPrompt } from './input';
import { Monitor, SharedEngine } from './loading';
import { PARAMS, readOptions, refusalOf } from './options';
import { Session, SessionState } from './session';
import { VALUE_CLASSES } from './tools';
import type {
  Availability,
  CreateMonitor,
  EngineLoader,
  LanguageModelClass,
  LanguageModelCreateCoreOptions,
  LanguageModelCreateOptions,
  LanguageModelParams,
  PromptEngine,
} from './types';

export type * from './types';

/**
 * The class `LanguageModel` of an engine. A function that loads one runs with the first session, and again where the
 * engine is lost.
 */
export function createLanguageModel(source: PromptEngine | EngineLoader): LanguageModelClass {
  const shared = new SharedEngine(source);

  class LanguageModel extends Session {
    static async availability(options?: LanguageModelCreateCoreOptions | null): Promise<Availability> {
      const checked = readOptions(dictionary(options));
      const engine = shared.ready;
      return checked.refusal || (engine && refusalOf(checked, engine)) ? 'unavailable' : shared.availability;
    }

    static async params(): Promise<LanguageModelParams | null> {
      return shared.availability === 'unavailable' ? null : { ...PARAMS };
    }

    static async create(asked?: LanguageModelCreateOptions | null): Promise<LanguageModel> {
      const options = dictionary(asked);
      const { signal: given, initialPrompts } = options;
      const signal = given ?? new AbortController().signal;
      const checked = readOptions(options);
      const initial = [...(initialPrompts ?? [])];
      const { messages } = readPrompt(initial, checked.inputs);
      signal.throwIfAborted();
      if (checked.refusal) throw notSupported(checked.refusal);
      const monitor = new Monitor();
      options.monitor?.(monitor as CreateMonitor); // its events of this name are ProgressEvents
      try {
        monitor.report(0);
        const engine = await shared.acquire(monitor, signal);
        const refusal = refusalOf(checked, engine);
        if (refusal !== null) throw notSupported(refusal);
        const session = new LanguageModel(new SessionState(engine, checked), signal);
        await orAborted(session.begin(initial.length > 0 ? messages : []), signal);
        monitor.report(1);
        if (options.monitor) await new Promise((resolve) => setTimeout(resolve)); // a listener may abort at 1
        signal.throwIfAborted();
        return session;
      } finally {
        monitor.end();
      }
    }
  }
  return LanguageModel as unknown as LanguageModelClass;
}

/**
 * Makes `LanguageModel` global, with the classes of calls and results, where the browser has none of its own.
 * @returns the class that pages will use: the browser's, or the engine's
 */
export function install(source: PromptEngine | EngineLoader): LanguageModelClass {
  const global = globalThis as { LanguageModel?: LanguageModelClass };
  if (!global.LanguageModel) Object.assign(global, VALUE_CLASSES, { LanguageModel: createLanguageModel(source) });
  return global.LanguageModel as LanguageModelClass;
}
