// Runs before each test file: fixes fast-check's seed, so that its cases are the same in every run.

import fc from 'fast-check';

fc.configureGlobal({ seed: 1 });
