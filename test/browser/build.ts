// Before the files of the browser tests, which run two at a time: what they load is built once.

import { ensureBuilt } from '../../tools/lib/bundle/dist';

export const setup = (): Promise<void> => ensureBuilt();
