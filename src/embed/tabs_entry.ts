// embed_tabs.js: the engine that all tabs of a site share, for tags with data-share, which add this script at the load
// of a model.

import { canShare, share } from '../tabs/share';
import { handOver } from './hand_over';

const part = { canShare, share };
export type TabsPart = typeof part;
handOver(part);
