// The parts of the list of conversations that come after its first paint: files and the search.

import { toMarkdown } from './conversation_markdown';
import { fileNameOf, importFiles, saveConversations, saveMarkdown } from './library_file';
import { SearchScan } from './search_scan';

export const parts = { fileNameOf, importFiles, saveConversations, saveMarkdown, SearchScan, toMarkdown };
