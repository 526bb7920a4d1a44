// Loads list_parts.ts after the first paint.

import { comesLater } from '../shared/comes_later';

export const libraryParts = comesLater(async () => (await import('./list_parts')).parts);
