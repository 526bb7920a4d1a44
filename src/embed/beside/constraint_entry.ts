// embed_constraint.js: the compiler of constraints for pages with the script tag, which adds this script for the first.

import { compile } from '../../engine/compiler';
import { handOver } from '../fetch/hand_over';

handOver({ compile });
