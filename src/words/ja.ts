// All texts in Japanese.

import { chat } from './chat_ja';
import type { Translation } from './language';
import { page } from './page_ja';
import { panel } from './panel_ja';

export const ja = { chat, page, panel } satisfies Translation;
