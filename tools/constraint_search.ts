// `npm run constraint-search -- --schemas N`: draws documents from random JSON schemas and asks ajv whether each one is
// valid. `npm test` runs a fixed share of it. Exit code 1 where one is not.

import { drawDocuments } from '../test/grammar/draws';
import { runTool } from './lib/terminal';

const FLAGS = {
  schemas: { kind: 'whole', value: 'N', help: 'how many schemas (default 10000)' },
  documents: { kind: 'whole', value: 'N', help: 'documents of each schema (default 5)' },
  seed: { kind: 'whole', value: 'N', help: 'seed of the first schema (default 0)' },
} as const;

/** Schemas between two lines of output. */
const ROUND = 500;

await runTool('npm run constraint-search --', FLAGS, async ({ schemas = 10_000, documents = 5, seed = 0 }) => {
  let drawn = 0;
  for (let done = 0; done < schemas; done += ROUND) {
    const seeds = Array.from({ length: Math.min(ROUND, schemas - done) }, (_, i) => seed + done + i);
    const counts = drawDocuments(seeds, documents);
    drawn += counts.documents;
    console.log(`${done + seeds.length} schemas, ${drawn} documents, ${counts.wrong.length} wrong`);
    for (const [reason, times] of counts.refused) console.log(`  refused ${times} times: ${reason}`);
    for (const wrong of counts.wrong) console.log(`  wrong: ${wrong}`);
    if (counts.wrong.length > 0) process.exitCode = 1;
  }
});
