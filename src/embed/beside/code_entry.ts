// embed_code.js: colors of code. The script tag adds this script when code appears, and the package imports it.

import { startColoring } from '../../ui/markdown/code_modes';
import { handOverNamed } from '../fetch/hand_over';

handOverNamed('code', { startColoring });
