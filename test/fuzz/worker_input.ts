import { readFileSync } from 'node:fs';
import type { WorkerInput } from './protocol';

/** What this process was started for: the file named by its first argument. */
export const input = JSON.parse(readFileSync(process.argv[2], 'utf8')) as WorkerInput;
