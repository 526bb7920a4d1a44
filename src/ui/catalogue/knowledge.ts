// What the offers of the page rest on: the list, the machine, what was seen of it, and the model to recommend. A part
// of its own, fetched at the start: the first answer is by a model that needs none of it.

import { readCatalogue } from './list/catalogue_file';
import { withGranted, withRate, withRefused } from './machine/experience';
import { readExperience, writeExperience } from './machine/experience_store';
import { needOf } from './machine/fit';
import { inspectMachine } from './machine/machine';
import { recommend } from './machine/recommend';

export const knowledge = {
  readCatalogue,
  inspectMachine,
  readExperience,
  writeExperience,
  withGranted,
  withRate,
  withRefused,
  needOf,
  recommend,
};

export type Knowledge = typeof knowledge;
