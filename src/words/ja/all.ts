// All texts in Japanese.

import type { Translation } from '../language';
import { chat } from './chat';
import { errors } from './errors';
import { page } from './page';
import { panel } from './panel';
import { reasons } from './reasons';

export const ja = { chat, errors, page, panel, reasons } satisfies Translation;
