// The events of <vivace-chat> by name: what a page, a panel and a framework may listen to.

import type { EngineEvent } from '../../engine/engine';
import type { LoadSettings } from '../settings/settings_fields';
import type { AskedRun, GrownEvent, KeepEvent } from './chat_session';

export interface ChatEvents {
  /** The engine has changed. `chat.engine` is the new one, or null. */
  'vivace-engine': CustomEvent<null>;
  /** The health or the info of the engine has changed. */
  'vivace-health': CustomEvent<null>;
  /** An answer is about to be asked for. */
  'vivace-run': CustomEvent<AskedRun>;
  /** Every event of the engine during an answer, such as `token` and `done`, and `gpuTimes` after the end. */
  'vivace-event': CustomEvent<EngineEvent>;
  /** An answer is over, whether it was whole, stopped or failed. */
  'vivace-end': CustomEvent<null>;
  /** The conversation has changed, and may be stored. */
  'vivace-changed': KeepEvent;
  /** The text of the answer under way has grown. */
  'vivace-writing': GrownEvent;
  /** The reader asks for the model with these settings. */
  'vivace-reload': CustomEvent<LoadSettings>;
  /** The reader asks for the run of an answer. The detail is its id. */
  'vivace-open-run': CustomEvent<string>;
  /** The reader prefers an answer to the tuner. */
  'vivace-cancel-tuning': CustomEvent<null>;
}
