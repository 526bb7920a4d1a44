// embed_de.js: the texts of the script tag and its panel in German. The tag's script adds this script on demand.

import { chat } from '../../words/de/chat';
import { errors } from '../../words/de/errors';
import { panel } from '../../words/de/panel';
import { reasons } from '../../words/de/reasons';
import { offerTexts } from '../fetch/shared_texts';

offerTexts('de', { chat, errors, panel, reasons });
