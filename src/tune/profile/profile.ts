// What is known of a GPU from earlier loads.

import type { AttentionProfile } from '../../attention/profile';
import type { LinearPass } from '../../kernels/linear/create_linear';
import type { ProductProfile } from '../../kernels/linear/product_profile';
import type { TunedStep } from '../../model/step/step_choice';
import type { Race } from '../results';

/** Measurements of one GPU in one browser with these shaders, for all models. */
export interface Profile extends ProductProfile {
  /** Keys: `attentionKey`. */
  attention: Readonly<Record<string, AttentionProfile>>;
  /** Keys: `stepKey`. */
  step: Readonly<Record<string, TunedStep>>;
  /** Keys: `raceKey`. */
  race: Readonly<Record<string, KeptRace>>;
}

/** The times of a race. Its key says what was raced. */
export type KeptRace = Pick<Race, LinearPass | 'clock'>;
