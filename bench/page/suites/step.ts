// `bench -- step`: whether fused steps are safe while another page keeps the GPU busy, and whether they say what plain
// steps say.

import { summarizeGaps } from '../../../src/engine/tbt';
import { CommandList } from '../../../src/gpu/kernel';
import type { FusedLayers } from '../../../src/model/step/fused_step';
import { relativeDistance } from '../../../src/tune/distance';
import type { Agreement, BenchResult, Neighbor, ShapeName, StepRow, StepRun } from '../../report';
import type { Bench } from '../bench';
import { probeLaunches } from '../measure/probe_launch';
import { greedy, openStepModel, type StepModel, triesOn } from '../synthetic/step_model';
import { refusalOf } from '../synthetic/synthetic_session';

/** Answers at most of one run: those of a file may end early. */
const MOST_ANSWERS = 100;

export async function stepSuite(bench: Bench): Promise<BenchResult> {
  const { shapes, madeUp, quant, kv, context, steps, tokens } = bench.request;
  const probes = await probeLaunches(bench.gpu, bench.request.quick);
  const rows: StepRow[] = [];
  for (const shape of madeUp ? shapes : [null]) {
    if (bench.stopped) break;
    rows.push(await measureRow(bench, shape));
    bench.say({ text: `${rows.at(-1)?.model}: done`, done: rows.length, total: madeUp ? shapes.length : 1 });
  }
  return { suite: 'step', quant: madeUp ? quant : null, kv, context, steps, tokens, probes, rows };
}

/** Parts that were measured stay, if a later one fails. */
async function measureRow(bench: Bench, shape: ShapeName | null): Promise<StepRow> {
  const { request } = bench;
  const row: StepRow = {
    model: shape ?? decodeURIComponent(request.model.slice(request.model.lastIndexOf('/') + 1)),
    launch: null,
    alone: null,
    beside: null,
    sameIds: null,
    neighbor: null,
    fusedPlain: null,
    plainExact: null,
    distance: null,
    refused: null,
  };
  try {
    bench.say({ text: `${row.model}: loading` });
    const model = await openStepModel(bench, shape);
    row.launch = model.launch;
    await runBoth(bench, model, row);
    if (!bench.stopped) await compareTexts(bench, model, row);
    row.distance = await compareStep(bench, model);
    await bench.renew(); // the next model needs the memory
    return row;
  } catch (error) {
    return { ...row, refused: await refusalOf(bench, error) };
  }
}

/** Fused steps alone, then beside the neighbor, until it ends. */
async function runBoth(bench: Bench, model: StepModel, row: StepRow): Promise<void> {
  bench.say({ text: `${row.model}: ${bench.request.steps} steps alone` });
  const alone = await runSteps(bench, model);
  row.alone = alone.run;
  bench.say({ text: `${row.model}: ${bench.request.steps} steps beside a page that keeps the GPU busy` });
  await bench.neighbor(true);
  let neighbor: Neighbor | null = null;
  try {
    const beside = await runSteps(bench, model);
    row.beside = beside.run;
    row.sameIds = beside.ids.join() === alone.ids.join();
  } finally {
    neighbor = await bench.neighbor(false);
  }
  row.neighbor = neighbor;
}

/** So many steps in one answer, or in as many as it takes. */
async function runSteps({ request }: Bench, model: StepModel): Promise<{ run: StepRun; ids: number[] }> {
  const { llama, session, longInput, use } = model;
  const before = llama.step.giveUps;
  const ids: number[] = [];
  const gaps: number[] = [];
  let fused = 0;
  for (let i = 0; i < MOST_ANSWERS && gaps.length < request.steps; i++) {
    use('fused'); // also where give-ups have turned it off
    const answer = await greedy(session, longInput(i), request.steps - gaps.length + 1);
    if (llama.step.name === 'fused') fused += answer.gaps.length;
    ids.push(...answer.ids);
    gaps.push(...answer.gaps);
  }
  const { mean, p50, p95, p99, max } = summarizeGaps(gaps);
  const tokensPerSecond = 1000 / (mean ?? Number.POSITIVE_INFINITY);
  const giveUps = llama.step.giveUps - before;
  return {
    run: {
      steps: gaps.length,
      stayedFused: fused === gaps.length,
      tokensPerSecond,
      tbtMs: { mean, p50, p95, p99, max },
      giveUps,
    },
    ids,
  };
}

async function compareTexts(bench: Bench, { inputs, llama, session, exact, use }: StepModel, row: StepRow) {
  const { tokens } = bench.request;
  const before = llama.step.giveUps;
  const fusedPlain: Agreement = { texts: 0, agreed: 0, firsts: [], giveUps: 0 };
  const plainExact: Agreement = { ...fusedPlain, firsts: [] };
  for (const input of inputs) {
    if (bench.stopped) break;
    use('fused');
    const fused = await greedy(session, input, tokens);
    use('plain');
    const plain = await greedy(session, input, tokens);
    addText(fusedPlain, fused.ids, plain.ids);
    addText(plainExact, plain.ids, (await greedy(exact, input, tokens)).ids);
    const { texts, agreed } = fusedPlain;
    const text = `${row.model}: of ${texts} texts fused and plain agree in ${agreed}, plain and f32 in ${plainExact.agreed}`;
    bench.say({ text });
  }
  fusedPlain.giveUps = llama.step.giveUps - before;
  Object.assign(row, { fusedPlain, plainExact });
}

/** Adds a text: the first token that differs, or null. */
export function addText(agreement: Agreement, a: readonly number[], b: readonly number[]): void {
  const longest = Math.max(a.length, b.length);
  const first = Array.from({ length: longest }, (_, i) => i).find((i) => a[i] !== b[i]) ?? null;
  agreement.texts++;
  agreement.firsts.push(first);
  if (first === null) agreement.agreed++;
}

/** One step after a prompt, both ways over the same keys and values. Null where the fused step gave up each time. */
async function compareStep(bench: Bench, { llama, compared, use }: StepModel): Promise<StepRow['distance']> {
  const { fused, recordStep, readX } = llama.stepped;
  if (!fused) return null;
  const position = compared.length - 1;
  llama.writeTokens(compared, 0);
  await llama.pass(compared.length, 'none', 0).run({ position: 0, nTokens: compared.length });
  const run = async (step: FusedLayers | null) => {
    const list = new CommandList(bench.gpu);
    recordStep(list, position, step);
    await list.run({ position, nTokens: 1 });
    return { x: await readX(), logits: await llama.readLogits() };
  };
  const plain = await run(null);
  for (let tries = 0; tries < triesOn(bench); tries++) {
    use('fused');
    const other = await run(fused.tiles);
    if (await fused.gaveUp()) continue;
    const [x, logits] = [relativeDistance(other.x, plain.x), relativeDistance(other.logits, plain.logits)];
    return { tokens: compared.length, x, logits };
  }
  return null;
}
