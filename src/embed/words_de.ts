// embed_de.js: the texts of the script tag and its panel in German. The tag's script adds this script on demand.

import { chat } from '../words/chat_de';
import { panel } from '../words/panel_de';
import { offerTexts } from './shared_texts';

offerTexts('de', { chat, panel });
