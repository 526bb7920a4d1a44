// The parts of Markdown as files beside the script tag. Without them code stays plain, and math is shown as it was
// written.

import { type MarkdownParts, provideParts } from '../ui/markdown/parts';
import { loadPart } from './load_part';

provideParts({
  code: () => loadPart<MarkdownParts['code']>('embed_code.js'),
  math: () => loadPart<MarkdownParts['math']>('embed_math.js'),
});
