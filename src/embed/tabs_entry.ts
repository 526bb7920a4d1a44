// embed_tabs.js: the engine that all tabs of a site share, for tags with data-share, which add this script at the load
// of a model.

import { share, shareable } from '../tabs/share';
import { handOver } from './hand_over';

const part = { shareable, share };
export type TabsPart = typeof part;
handOver(part);
