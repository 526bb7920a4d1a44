// embed_math.js: math for pages with the script tag, which adds this script when math appears.

import { readMath } from '../../ui/markdown/math_tex';
import { handOver } from '../fetch/hand_over';

handOver({ readMath });
