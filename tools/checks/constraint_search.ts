// `npm run constraint-search -- --schemas N`: draws documents from random JSON schemas and asks ajv whether each one is
// valid. `npm test` runs a fixed share of it. With `--answers N`: answers of the storyteller on the CPU instead. With
// `--hostile N`: constraints that mean harm, each of which has to be compiled or refused within a second of CPU time.
// With `--forced FILE`, a tokenizer.json: how many tokens of some answers are forced. Exit code 1 where one is wrong.

import { setImmediate as turn } from 'node:timers/promises';
import { constrainedAnswers } from '../../test/engine/constraint/constrained_answers';
import { compileHostile } from '../../test/grammar/hostile/hostile_search';
import { drawDocuments } from '../../test/grammar/schema/draws';
import { countForced } from '../../test/grammar/schema/forced';
import { readJson } from '../../test/text/fixtures';
import { runTool } from '../lib/command_line/terminal';

const FLAGS = {
  schemas: { kind: 'count', value: 'N', help: 'how many schemas (default 10000)' },
  documents: { kind: 'count', value: 'N', help: 'documents of each schema (default 5)' },
  answers: { kind: 'count', value: 'N', help: 'answers of the storyteller at temperature 1, instead of schemas' },
  hostile: { kind: 'count', value: 'N', help: 'hostile constraints, instead of schemas' },
  forced: { kind: 'text', value: 'FILE', help: 'tokens that are forced, in the vocabulary of a tokenizer.json' },
  seed: { kind: 'whole', value: 'N', help: 'seed of the first schema, answer or constraint (default 0)' },
} as const;

/** Schemas between two lines of output. */
const ROUND = 500;

await runTool('npm run constraint-search --', FLAGS, async (given) => {
  const { schemas = 10_000, documents = 5, answers, hostile, forced, seed = 0 } = given;
  const search = () => {
    if (forced !== undefined) return tellForced(forced);
    if (answers !== undefined) return searchAnswers(answers, seed);
    return hostile === undefined ? searchSchemas(schemas, documents, seed) : searchHostile(hostile, seed);
  };
  if ((await search()) > 0) process.exitCode = 1;
});

function seedsOf(first: number, n: number): number[] {
  return Array.from({ length: n }, (_, i) => first + i);
}

function tellForced(file: string): number {
  for (const layout of ['line', 'free'] as const) {
    for (const { name, tokens, single, forced, runs } of countForced(readJson(file), layout)) {
      const told = `${tokens} tokens, ${single} of them the only one allowed, ${forced} of forced bytes in ${runs} runs`;
      console.log(`${layout}, ${name}: ${told}`);
    }
  }
  return 0;
}

async function searchHostile(constraints: number, seed: number): Promise<number> {
  const cpuMs = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  let nWrong = 0;
  for (let done = 0; done < constraints; done += ROUND) {
    const n = Math.min(ROUND, constraints - done);
    const { compiled, refused, wrong, slowest } = compileHostile(seedsOf(seed + done, n), cpuMs);
    nWrong += wrong.length + (slowest.ms > 1000 ? 1 : 0);
    const last = `seed ${slowest.seed} took ${Math.round(slowest.ms)} ms`;
    console.log(`${done + n} constraints: ${compiled} compiled, ${refused} refused, ${wrong.length} wrong; ${last}`);
    for (const one of wrong) console.log(`  wrong: ${one}`);
    await turn(); // in which the program hears that nobody reads on
  }
  return nWrong;
}

async function searchSchemas(schemas: number, documents: number, seed: number): Promise<number> {
  let drawn = 0;
  let nWrong = 0;
  for (let done = 0; done < schemas; done += ROUND) {
    const seeds = seedsOf(seed + done, Math.min(ROUND, schemas - done));
    const counts = drawDocuments(seeds, documents);
    drawn += counts.documents;
    nWrong += counts.wrong.length;
    console.log(`${done + seeds.length} schemas, ${drawn} documents, ${counts.wrong.length} wrong`);
    for (const [reason, times] of counts.refused) console.log(`  refused ${times} times: ${reason}`);
    for (const wrong of counts.wrong) console.log(`  wrong: ${wrong}`);
    await turn();
  }
  return nWrong;
}

async function searchAnswers(answers: number, seed: number): Promise<number> {
  let done = 0;
  let nTokens = 0;
  let nWrong = 0;
  for await (const { text, tokens, wrong } of constrainedAnswers(seedsOf(seed, answers))) {
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
