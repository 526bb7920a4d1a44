// The input of a fuzz process.

import { readFileSync } from 'node:fs';
import type { WorkerInput } from './protocol';

/** The tasks of this process, from the file named by its first argument. */
export const input = JSON.parse(readFileSync(process.argv[2], 'utf8')) as WorkerInput;
