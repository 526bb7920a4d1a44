// What the offers of the page rest on: the list, the machine, what was seen of it, and the model to recommend. A part
// of its own, fetched at the start: the first answer is by a model that needs none of it.

import { readCatalogue } from './catalogue_file';
import { withGranted, withRate, withRefused } from './experience';
import { readExperience, writeExperience } from './experience_store';
import { needOf } from './fit';
import { inspectMachine } from './machine';
import { recommend } from './recommend';

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
