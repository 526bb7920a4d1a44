// All texts in German.

import type { Translation } from '../language';
import { chat } from './chat';
import { page } from './page';
import { panel } from './panel';

export const de = { chat, page, panel } satisfies Translation;
