// All texts in Japanese.

import type { Translation } from '../language';
import { chat } from './chat';
import { page } from './page';
import { panel } from './panel';

export const ja = { chat, page, panel } satisfies Translation;
