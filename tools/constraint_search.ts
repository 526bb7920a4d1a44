// `npm run constraint-search -- --schemas N`: draws documents from random JSON schemas and asks ajv whether each one is
// valid. `npm test` runs a fixed share of it. With `--answers N`: answers of the storyteller on the CPU instead. Exit
// code 1 where one is wrong.

import { constrainedAnswers } from '../test/engine/constrained_answers';
import { drawDocuments } from '../test/grammar/draws';
import { runTool } from './lib/terminal';

const FLAGS = {
  schemas: { kind: 'whole', value: 'N', help: 'how many schemas (default 10000)' },
  documents: { kind: 'whole', value: 'N', help: 'documents of each schema (default 5)' },
  answers: { kind: 'whole', value: 'N', help: 'answers of the storyteller at temperature 1, instead of schemas' },
  seed: { kind: 'whole', value: 'N', help: 'seed of the first schema or answer (default 0)' },
} as const;

/** Schemas between two lines of output. */
const ROUND = 500;

await runTool('npm run constraint-search --', FLAGS, async ({ schemas = 10_000, documents = 5, answers, seed = 0 }) => {
  const nWrong = answers === undefined ? searchSchemas(schemas, documents, seed) : await searchAnswers(answers, seed);
  if (nWrong > 0) process.exitCode = 1;
});

function searchSchemas(schemas: number, documents: number, seed: number): number {
  let drawn = 0;
  let nWrong = 0;
  for (let done = 0; done < schemas; done += ROUND) {
    const seeds = Array.from({ length: Math.min(ROUND, schemas - done) }, (_, i) => seed + done + i);
    const counts = drawDocuments(seeds, documents);
    drawn += counts.documents;
    nWrong += counts.wrong.length;
    console.log(`${done + seeds.length} schemas, ${drawn} documents, ${counts.wrong.length} wrong`);
    for (const [reason, times] of counts.refused) console.log(`  refused ${times} times: ${reason}`);
    for (const wrong of counts.wrong) console.log(`  wrong: ${wrong}`);
  }
  return nWrong;
}

async function searchAnswers(answers: number, seed: number): Promise<number> {
  let done = 0;
  let nTokens = 0;
  let nWrong = 0;
  for await (const { text, tokens, wrong } of constrainedAnswers(Array.from({ length: answers }, (_, i) => seed + i))) {
    done++;
    nTokens += tokens;
    if (wrong !== null) {
      nWrong++;
      console.log(`  wrong, ${wrong}: ${text}`);
    }
    if (done % 20 === 0 || done === answers)
      console.log(`${done} answers, ${nTokens} tokens, ${nWrong} wrong: ${text}`);
  }
  return nWrong;
}
