// embed_ja.js: the texts of the chat and its panel in Japanese. The script tag adds this script on demand, and the
// package imports it.

import { chat } from '../../words/ja/chat';
import { errors } from '../../words/ja/errors';
import { panel } from '../../words/ja/panel';
import { reasons } from '../../words/ja/reasons';
import { offerTexts } from '../fetch/shared_texts';

offerTexts('ja', { chat, errors, panel, reasons });
