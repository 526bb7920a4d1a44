// Before each test file: the cases that fast-check makes are the same in every run.

import fc from 'fast-check';

fc.configureGlobal({ seed: 1 });
