// The parts of the fused step's shader whose registers need names: waits for many words at once, and products of
// several rows a thread. Compilers do not move loads out of loops, and an array that is indexed in a loop lands in
// memory on some devices. Indices of workgroup memory are written out where they are used, as sums and remainders of
// constants: of others Tint does not see that they are in bounds, and clamps each.

import { STARTED } from '../linear/started';
import { readsScaleQuads, WEIGHT_FORMATS } from '../linear/weight_format';
import { loadsOf, partsOf, type RunPlan, rowParts, type StepPlan, squaresOf, X_QUADS, xStride } from './step_plan';

/** `write(0)`, `write(1)` ... of `count`, joined. */
export function each(count: number, write: (i: number) => string, separator = '\n'): string {
  return Array.from({ length: count }, (_, i) => write(i)).join(separator);
}

/** A wait: the function `name` reads `count` items of so many words, and hands the payloads of each to `put`. */
export interface Take {
  name: string;
  /** The parameter of the function, behind the tag. */
  parameter?: string;
  count: number;
  /** Of an item; 1 if absent. */
  words?: number;
  /** True: `poll_NAME` has asked for the words before. */
  polled?: boolean;
  /** The index in `words` of a word of item `i`, a source. */
  at: (i: string, word: number) => string;
  put: (i: string, payloads: readonly string[]) => string;
}

/**
 * The source of a wait. All words of a thread are in flight at once. The barrier in front lets no thread wait for words
 * of its own workgroup that are not there yet.
 */
export function takeWgsl(take: Take, threads: number): string {
  const { name, parameter, count, words = 1, at, put, polled } = take;
  const items = Math.ceil(count / threads);
  const n = items * words;
  const even = count % threads === 0;
  const index = (k: number) => (even ? `lid + ${k * threads}u` : `min(lid + ${k * threads}u, ${count - 1}u)`);
  const parameters = `tag: u32${parameter ? `, ${parameter}: u32` : ''}`;
  const v = (k: number) => (polled ? `${name}_${k}` : `v${k}`);
  const stale = each(n, (k) => `((${v(k)} >> 24u) ^ tag)`, ' | ');
  const guard = (k: number) => (even ? '' : `if (lid + ${k * threads}u < ${count}u) `);
  const polls = each(n, (k) => `${v(k)} = poll(a${k});`, ' ');
  const places = each(n, (k) => `let a${k} = ${at(`(${index(Math.floor(k / words))})`, k % words)};`, '\n  ');
  const payloads = (k: number) => Array.from({ length: words }, (_, word) => `(${v(k * words + word)} & 0xffffffu)`);
  const asks = polled
    ? `${each(n, (k) => `var<private> ${v(k)}: u32;`)}
fn poll_${name}(${parameters}) {
  ${places}
  ${polls}
}`
    : '';
  return `${asks}
fn ${name}(${parameters}) {
  workgroupBarrier();
  ${places}
  ${polled ? '' : `${each(n, (k) => `var ${v(k)}: u32;`, ' ')}\n  ${polls}`}
  if (atomicLoad(&lost) != 0u) { gave_up = true; }
  for (var n = 0u; n < MOST_SPINS; n++) {
    if ((${stale}) == 0u || gave_up) { break; }
    ${each(n, (k) => `if ((${v(k)} >> 24u) != tag) { ${v(k)} = poll(a${k}); }`, '\n    ')}
    if ((n & LOOK_EVERY) == LOOK_EVERY) { gave_up = stops_waiting(n); }
  }
  if ((${stale}) != 0u) { give_up(); }
  ${each(items, (k) => `${guard(k)}{ ${put(`(lid % ${threads}u + ${k * threads}u)`, payloads(k))} }`, '\n  ')}
}`;
}

/** The names that a piece of WGSL declares. Builds shorten pieces to one line. */
const DECLARED = /\b(?:fn|struct|alias|const) (\w+)/g;

/** A weight format with every name marked by the format, reading the planes that all formats share. */
export function formatWgsl(format: RunPlan['format']): string {
  const { wgsl, constants = {} } = WEIGHT_FORMATS[format];
  const lines = Object.entries(constants).map(([name, value]) => `const ${name} = ${value};`);
  const source = [...lines, ...wgsl, STARTED[format]].join('\n');
  const names = new Set([...source.matchAll(DECLARED)].map(([, name]) => name));
  return source
    .replace(/@group[^;]*;/g, '')
    .replace(/\b[A-Za-z_]\w*\b/g, (name) => (names.has(name) ? marked(name, format) : name))
    .replace(/\bweights\[/g, 'planes[plane0 + ')
    .replace(/\bscales\[/g, `${readsScaleQuads(format) ? 'scale_quads' : 'scale_words'}[scale0 + `);
}

/** The name of a format's own declaration. */
function marked(name: string, format: RunPlan['format']): string {
  return `${name}_${format}`;
}

/**
 * Adds up `rows` sums NAME0, NAME1 ... of each thread over `lanes` neighboring lanes. Each step halves the rows that a
 * lane keeps, as long as there are two. `emit(row, sum)` runs in the lanes that keep a row in the end.
 */
export function reduceWgsl(
  name: string,
  rows: number,
  lanes: number,
  emit: (row: string, sum: string, i: number) => string,
): string {
  const s = (i: number) => `${name}${i}`;
  let n = rows;
  let span = lanes; // lanes that hold the same rows in the end
  const steps: string[] = [];
  for (let offset = lanes / 2; offset >= 1; offset /= 2) {
    if (n % 2 === 0) {
      n /= 2;
      span /= 2;
      const halve = (i: number) =>
        `let t${i} = select(${s(i + n)}, ${s(i)}, up); ` +
        `${s(i)} = select(${s(i)}, ${s(i + n)}, up) + subgroupShuffleXor(t${i}, ${offset}u);`;
      steps.push(`{ let up = (lid & ${offset}u) != 0u; ${each(n, halve, ' ')} }`);
    } else {
      steps.push(each(n, (i) => `${s(i)} += subgroupShuffleXor(${s(i)}, ${offset}u);`, ' '));
    }
  }
  const emits = each(n, (i) => emit(`kept + ${i}u`, s(i), i), ' ');
  steps.push(`if (lid % ${span}u == 0u) { let kept = lid % ${lanes}u / ${span}u * ${n}u; ${emits} }`);
  return steps.join('\n      ');
}

/** The sums that a lane keeps of reduceWgsl. */
export function keptRows(rows: number, lanes: number): number {
  return rows % 2 === 0 && lanes > 1 ? keptRows(rows / 2, lanes / 2) : rows;
}

/** The product of one run of rows within a phase. */
interface Run extends RunPlan {
  /** Prefix of its registers, which are private to a thread and outlive a function. */
  id: string;
  /** The source of its first quad of weights and its first scale. */
  place: string;
  /** First of its partial sums. */
  part0: number;
  /** Tokens of a step. */
  tokens: number;
}

/**
 * A product: `NAME(layer, tag)` takes x, a chunk of its columns at a time, multiplies, and hands each row to `emit`. It
 * issues its first loads of weights before it waits for x, or the product before does, by `load_NAME(layer)`. Partial
 * sums of a row lie in row_parts, those of the tokens side by side.
 */
export interface Product {
  name: string;
  load: string;
  /** The runs of each kind of layer. */
  kinds: readonly (readonly RunPlan[])[];
  /** The source of the kind of layer `entry`, and of the places of its runs. */
  kind: string;
  places: readonly string[];
  /** The wait that fills x_words. */
  take: string;
  normed: boolean;
  /** The source that gets a token's sum of local row i, which is `row` of the matrix; or of a pair of rows. */
  emit: { rows: string } | { pairs: string };
  /** True where the product before issues the first loads. */
  early: boolean;
  /** The source that issues the loads of what follows, while this product adds up and publishes. */
  ahead: string;
}

export function productWgsl(product: Product, plan: StepPlan, tokens: number, subgroup: number): string {
  const { name, load, kinds, kind, places, early } = product;
  const { threads } = plan.launch;
  const all = kinds.map((runs, k) => {
    let part0 = 0;
    return runs.map((run, i): Run => {
      const first = part0;
      part0 += rowParts([run], threads, subgroup);
      return { ...run, id: `${name}_${k}_${i}_`, place: places[i], part0: first * tokens, tokens };
    });
  });
  const byKind = (write: (runs: readonly Run[]) => string) =>
    all
      .map((runs, k) => `${k < all.length - 1 ? `if (entry.kinds.${kind} == ${k}u) ` : ''}{ ${write(runs)} }`)
      .join(' else ');
  const loads = (runs: readonly Run[]) =>
    runs.map((run) => `${locateWgsl(run)}\n  ${loadTrip(run, '0u', '0u', threads)}`).join('\n  ');
  const declare = (runs: readonly Run[], scope: string) => runs.map((run) => declareLoads(run, scope)).join('\n');
  const multiply = (runs: readonly Run[]) => multiplyRuns(product, runs, threads, subgroup);
  if (!early) {
    return `
fn ${load}(layer: u32) {}
fn ${name}(layer: u32, tag: u32) {
  let entry = bound.layers[layer];
  ${byKind((runs) => `${declare(runs, 'var')}\n  ${loads(runs)}\n  ${multiply(runs)}`)}
}`;
  }
  return `
${declare(all.flat(), 'var<private>')}
fn ${load}(layer: u32) {
  let entry = bound.layers[layer];
  ${byKind(loads)}
}
fn ${name}(layer: u32, tag: u32) {
  if (APART) { ${load}(layer); }
  let entry = bound.layers[layer];
  ${byKind(multiply)}
}`;
}

function multiplyRuns({ take, normed, emit, ahead }: Product, runs: readonly Run[], threads: number, subgroup: number) {
  const { blocks, chunk } = runs[0];
  const count = chunksOf(runs[0]);
  const squared = blocks % chunk === 0 ? `${2 * chunk}u` : `2u * min(${chunk}u, ${blocks}u - chunk * ${chunk}u)`;
  const next = count === 1 ? '' : `if (chunk + 1u < ${count}u) { poll_${take}(tag, chunk + 1u); }`;
  const { first, step } = squaresOf(chunk, runs[0].tokens);
  const multiply = `${take}(tag, chunk);
  workgroupBarrier();
  ${next}
  ${normed ? `add_squares(${squared}, ${first}u, ${step}u, chunk == 0u);` : ''}
  ${runs.map((run) => `${locateWgsl(run)}\n  ${multiplyWgsl(run, threads, subgroup)}`).join('\n  ')}`;
  const chunks = `poll_${take}(tag, 0u);\n  for (var chunk = 0u; chunk < ${count}u; chunk++) { ${multiply} }`;
  const kept = runs.filter((run) => keepsSums(run, threads));
  return `${kept.map(sumsWgsl).join('\n  ')}
  ${count === 1 ? `const chunk = 0u;\n  ${multiply}` : chunks}
  ${kept.map((run) => addUpWgsl(run, threads, subgroup)).join('\n  ')}
  ${ahead}
  workgroupBarrier();
  ${runs.map((run) => finishWgsl(run, emit, threads, subgroup)).join('\n  ')}`;
}

/**
 * `body` for i from 0 to count, shared out among threads. A loop even where it runs once: compilers do not move the
 * loads in front of it, which are to be early, behind a loop.
 */
function forEachWgsl(count: number, threads: number, body: string): string {
  return `for (var n = lid; n < ${count}u; n += ${threads}u) { let i = n % ${count}u;
    ${body}
  }`;
}

/** A block of x of a token, in workgroup memory from `at` on. */
function xWgsl(tokens: number, token: number, chunk: number): string {
  const stride = xStride(chunk, tokens);
  const read = (places: readonly number[]) => places.map((place) => `x_words[at + ${place}u]`).join(', ');
  if (tokens === 1) return `x_of_words(${read(Array.from({ length: 7 }, (_, plane) => plane * stride))})`;
  const quads = Array.from({ length: X_QUADS }, (_, quad) => 2 * (quad * tokens + token) * stride);
  return `x_of_quads(${read(quads.flatMap((quad) => [quad, quad + 1]))})`;
}

function chunksOf({ blocks, chunk }: RunPlan): number {
  return Math.ceil(blocks / chunk);
}

function locateWgsl({ place }: Run): string {
  return `plane0 = entry.${place}.x; scale0 = entry.${place}.y;`;
}

function declareLoads({ id, groupRows, format }: Run, scope: string): string {
  return each(groupRows, (r) => `${scope} ${id}w${r}: ${marked('Raw', format)};`);
}

/** The row of the run that register `r` of a thread holds in a trip. */
function rowWgsl(run: Run, r: number, trip: string, threads: number): string {
  const { own, rows, lanes, groupRows } = run;
  const { sets, turns, perLane } = loadsOf(run, threads);
  const turn = turns === 1 ? '' : ` + ${trip} / ${perLane}u * ${sets * groupRows}u`;
  const local = `lid / ${lanes}u * ${groupRows}u + ${r}u${turn}`;
  const owned = turns * sets * groupRows === own ? local : `min(${local}, ${own - 1}u)`;
  return `min(wg * ${own}u + ${owned}, ${rows - 1}u)`;
}

/** The block of a thread within a chunk, in a trip. */
function blockWgsl(run: Run, trip: string, threads: number): string {
  const { lanes } = run;
  const { perLane } = loadsOf(run, threads);
  return `lid % ${lanes}u${perLane === 1 ? '' : ` + ${trip} % ${perLane}u * ${lanes}u`}`;
}

/** True if some threads have fewer blocks than others. */
function isRagged({ blocks, chunk, lanes }: RunPlan): boolean {
  return chunk % lanes !== 0 || blocks % chunk !== 0;
}

/** Loads the blocks of a trip: the rows of its turn, one block of each. */
function loadTrip(run: Run, chunk: string, trip: string, threads: number): string {
  const { id, blocks, groupRows, format } = run;
  const first = chunksOf(run) === 1 ? '' : `${chunk} * ${run.chunk}u + `;
  const own = `${first}${blockWgsl(run, trip, threads)}`;
  const block = isRagged(run) ? `min(${own}, ${blocks - 1}u)` : own;
  const load = (r: number) =>
    `${id}w${r} = ${marked('load_raw', format)}(${rowWgsl(run, r, trip, threads)} * ${blocks}u + ${block});`;
  return each(groupRows, load, '\n  ');
}

/** True if a thread has the same rows in every chunk: it keeps their sums until the last one. */
function keepsSums(run: Run, threads: number): boolean {
  return chunksOf(run) > 1 && loadsOf(run, threads).turns === 1;
}

/** The sums of a thread: of each of its rows, those of the tokens side by side. */
function sumsWgsl({ id, groupRows, tokens }: Run): string {
  return each(groupRows * tokens, (i) => `var ${id}s${i} = 0.0;`, ' ');
}

/** Adds up the sums of threads that share rows. */
function addUpWgsl(run: Run, threads: number, subgroup: number): string {
  const { id, lanes, groupRows, part0, tokens } = run;
  const { sets, turns, perLane } = loadsOf(run, threads);
  const width = Math.min(subgroup, lanes);
  const parts = partsOf(run, subgroup);
  const nSums = groupRows * tokens;
  const turn = turns === 1 ? '' : ` + trip / ${perLane}u * ${sets * nSums}u`;
  const before = chunksOf(run) > 1 && !keepsSums(run, threads);
  return reduceWgsl(`${id}s`, nSums, width, (sum, value) => {
    const set = `lid % ${threads}u / ${lanes}u`;
    const at = `row_parts[${part0}u + (${set} * ${nSums}u + ${sum}${turn}) * ${parts}u + lid % ${lanes}u / ${width}u]`;
    return `${at} = ${value}${before ? ` + select(${at}, 0.0, chunk == 0u)` : ''};`;
  });
}

/** Multiplies all trips of a run in a chunk, the loads of the next trip on their way. */
function multiplyWgsl(run: Run, threads: number, subgroup: number): string {
  const { id, groupRows, tokens } = run;
  const { perLane, trips } = loadsOf(run, threads);
  const count = chunksOf(run);
  const keeps = keepsSums(run, threads);
  const addUp = keeps ? '' : addUpWgsl(run, threads, subgroup);
  const sums = keeps ? '' : sumsWgsl(run);
  const current = each(groupRows, (r) => `let c${r} = ${id}w${r};`, ' ');
  const multiply = productsWgsl(run, threads);
  const later = count === 1 ? '' : `if (chunk + 1u < ${count}u) { ${loadTrip(run, '(chunk + 1u)', '0u', threads)} }`;
  if (trips === 1)
    return `{ const trip = 0u; ${sums}\n      ${current}\n      ${later}\n      ${multiply}\n      ${addUp} }`;
  const zero = each(groupRows * tokens, (i) => `${id}s${i} = 0.0;`, ' ');
  return `{ ${sums}
    for (var trip = 0u; trip < ${trips}u; trip++) {
      ${current}
      if (trip + 1u < ${trips}u) { ${loadTrip(run, 'chunk', '(trip + 1u)', threads)} }
      ${later && `else ${later}`}
      ${multiply}
      ${addUp && `if (trip % ${perLane}u == ${perLane - 1}u) { ${addUp}\n      ${zero} }`}
    } }`;
}

/** Multiplies the blocks of a trip, each unpacked once, with those of every token: half of the tokens at a time. */
function productsWgsl(run: Run, threads: number): string {
  const { id, blocks, chunk, lanes, groupRows, format, tokens } = run;
  const first = chunksOf(run) === 1 ? '' : `chunk * ${chunk}u + `;
  // A format may ask for the place of a block among those that share a word: where rows are even, it is the row's own.
  const place = (r: number) =>
    blocks % 2 === 0 ? `${first}block` : `${rowWgsl(run, r, 'trip', threads)} * ${blocks}u + ${first}block`;
  const unpacked = (r: number) =>
    `let u${r} = ${marked('unpack_started', format)}(${marked('packed', format)}(c${r}, ${place(r)}));`;
  const dot = marked('scaled_dot_halves_started', format);
  const product = (r: number, t: number) => `${id}s${r * tokens + t} += ${dot}(u${r}, x.low, x.high, x.d, x.start);`;
  const token = (t: number) => `{ let x = ${xWgsl(tokens, t, chunk)};
        ${each(groupRows, (r) => product(r, t), '\n        ')} }`;
  const near = each(Math.ceil(tokens / 2), token);
  const far = each(Math.floor(tokens / 2), (i) => token(Math.ceil(tokens / 2) + i));
  const own = chunk % lanes === 0 ? 'block' : `min(block, ${chunk - 1}u)`;
  const multiply = `let at = ${tokens === 1 ? own : `${own} * 2u`};
      ${each(groupRows, unpacked, '\n      ')}
      ${near}
      ${far && `if (n_rows() > ${Math.ceil(tokens / 2)}u) { ${far} }`}`;
  const isThere = [
    chunk % lanes === 0 ? '' : `block < ${chunk}u`,
    blocks % chunk === 0 ? '' : `${first}block < ${blocks}u`,
  ].filter(Boolean);
  return `let block = ${blockWgsl(run, 'trip', threads)};
      ${isThere.length > 0 ? `if (${isThere.join(' && ')}) { ${multiply} }` : multiply}`;
}

/** Adds up the partial sums of each row, or pair of rows, that the workgroup owns, for every token. */
function finishWgsl(run: Run, emit: Product['emit'], threads: number, subgroup: number): string {
  const { own, rows, row0, part0, tokens } = run;
  const parts = partsOf(run, subgroup);
  const sum = (i: string) => each(parts, (p) => `row_parts[${part0}u + (${i}) * ${parts}u + ${p}u]`, ' + ');
  const [token, local] = tokens === 1 ? ['0u', 'i'] : [`i % ${tokens}u`, `i / ${tokens}u`];
  const loop = (count: number, finish: string) =>
    forEachWgsl(
      count * tokens,
      threads,
      `let token = ${token};
    let own = ${local};
    if (token < n_rows()) { ${finish} }`,
    );
  if ('pairs' in emit) {
    const row = (odd: number) => sum(`(2u * own + ${odd}u) * ${tokens}u + token`);
    return loop(own / 2, `${emit.pairs}(token, own, ${row(0)}, ${row(1)});`);
  }
  const row = `wg * ${own}u + own`;
  return loop(own, `if (${row} < ${rows}u) { ${emit.rows}(token, own, ${row0}u + ${row}, ${sum('i')}); }`);
}
