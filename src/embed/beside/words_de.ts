// embed_de.js: the texts of the chat and its panel in German. The script tag adds this script on demand, and the
// package imports it.

import { chat } from '../../words/de/chat';
import { errors } from '../../words/de/errors';
import { panel } from '../../words/de/panel';
import { reasons } from '../../words/de/reasons';
import { offerTexts } from '../fetch/shared_texts';

offerTexts('de', { chat, errors, panel, reasons });
