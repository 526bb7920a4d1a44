// `npm run docs`: writes docs/api.md anew from its template, the table of options and the public types.

import { writeFileSync } from 'node:fs';
import { API_PAGE, apiPage } from './api_page';

writeFileSync(API_PAGE, apiPage());
