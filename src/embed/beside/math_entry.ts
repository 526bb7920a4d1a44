// embed_math.js: math. The script tag adds this script when math appears, and the package imports it.

import { readMath } from '../../ui/markdown/math_tex';
import { handOverNamed } from '../fetch/hand_over';

handOverNamed('math', { readMath });
