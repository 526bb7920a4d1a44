// The parts of the page that come after its first paint: the dialog of models with the list of what the page offers,
// the settings and the editor of the chat, what takes files and long pastes, what prints, and what keeps the page for
// times without a network.

import '../attach/files';
import { readFiles } from '../attach/read_files';
import '../catalogue/catalogue_list';
import '../chat/chat_dialogs';
import '../model/models';
import '../settings/answer_form';
import { kindOf } from './file_kind';
import { takeLongPastes } from './long_paste';
import { openOffline } from './offline';
import { printConversation } from './print';

export const parts = { kindOf, openOffline, printConversation, readFiles, takeLongPastes };
