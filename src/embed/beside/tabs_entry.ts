// embed_tabs.js: the engine that all tabs of a site share, for tags with data-share, which add this script at the load
// of a model.

import { share, shareable } from '../../tabs/share';
import { handOver } from '../fetch/hand_over';

handOver({ shareable, share });
