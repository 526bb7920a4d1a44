// The parts of Markdown, and the one that asks servers, as files beside the script tag. Without them code stays plain,
// math is shown as it was written, and no server answers.

import { type MarkdownParts, provideParts } from '../../ui/markdown/parts';
import { provideServerPart } from '../server/server_part';
import { loadPart } from './load_part';

provideParts({
  code: () => loadPart<MarkdownParts['code']>('embed_code.js'),
  math: () => loadPart<MarkdownParts['math']>('embed_math.js'),
});

provideServerPart(() => loadPart('embed_server.js'));
