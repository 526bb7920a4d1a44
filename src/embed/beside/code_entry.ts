// embed_code.js: colors of code for pages with the script tag, which adds this script when code appears.

import { startColoring } from '../../ui/markdown/code_modes';
import { handOver } from '../fetch/hand_over';

handOver({ startColoring });
