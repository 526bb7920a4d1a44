// All texts in German.

import type { Translation } from '../language';
import { chat } from './chat';
import { errors } from './errors';
import { page } from './page';
import { panel } from './panel';

export const de = { chat, errors, page, panel } satisfies Translation;
