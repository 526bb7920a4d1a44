// The text of docs/api.md: the template with its tables.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../lib/ensure.mjs';
import { written } from './tables';

const TEMPLATE = path.join(ROOT, 'tools/docs/api_template.md');

export const API_PAGE = path.join(ROOT, 'docs/api.md');

export function apiPage(): string {
  const template = readFileSync(TEMPLATE, 'utf8');
  return template.replace(/^\{\{(\w+) (\S+?)(?: (\w+))?\}\}$/gm, (_, kind, file, name = '') =>
    written(kind, file, name),
  );
}
