// The parts of Markdown as chunks of the page.

import { provideParts } from './parts';

provideParts({ code: () => import('./code_modes'), math: () => import('./math_tex') });
