// Runs before each test file. Files share a process, so each starts with modules of its own: a mock reaches what it
// names, and no constant that a file changed is left. Fixes fast-check's seed, so that its cases are the same in every run.

import fc from 'fast-check';
import { vi } from 'vitest';

vi.resetModules();
fc.configureGlobal({ seed: 1 });
