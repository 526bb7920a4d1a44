// All texts in German.

import { chat } from './chat_de';
import type { Translation } from './language';
import { page } from './page_de';
import { panel } from './panel_de';

export const de = { chat, page, panel } satisfies Translation;
