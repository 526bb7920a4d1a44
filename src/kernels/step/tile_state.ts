// The registers of a tile of attention_tiles.wgsl: the scores of several heads, the softmax over them, and quads of o.
// K_LANES threads share a key, and each keeps the scores of some heads, with their m and l. OWN_HEADS heads of a thread
// share the values that it reads.

import type { StepPlan, StepShape } from './step_plan';
import { each, keptRows, reduceWgsl } from './unrolled';

export function tileWgsl(shape: StepShape, plan: StepPlan, subgroup: number): string {
  const group = shape.nHeads / shape.nKvHeads;
  return `${weightsWgsl(group, plan.ownHeads)}
${scoresWgsl(shape, plan, subgroup)}
${valuesWgsl(shape.headDim, plan.ownHeads)}`;
}

/**
 * p of a tile, those of OWN_HEADS heads side by side; later l of each subgroup. Arrays, since a write of a component
 * may touch a whole vector, which other threads write.
 */
function weightsWgsl(group: number, ownHeads: number): string {
  const place = `p_tile[head / ${ownHeads}u * TILE + key][head % ${ownHeads}u]`;
  return `
var<workgroup> p_tile: array<array<f32, ${ownHeads}>, ${group / ownHeads}u * TILE>;
fn put_p(head: u32, key: u32, p: f32) { ${place} = p; }
fn p_at(head: u32, key: u32) -> f32 { return ${place}; }`;
}

/** Scores of one key of the tile for every head of the group, their p once most_of has the tile's, and l in the end. */
function scoresWgsl({ nHeads, nKvHeads, headDim, kvType }: StepShape, { keyLanes }: StepPlan, subgroup: number) {
  const group = nHeads / nKvHeads;
  const kept = keptRows(group, keyLanes);
  const span = (keyLanes * kept) / group; // lanes that hold the same heads
  const pair = (h: number, i: number) => `q_heads[${(h * headDim) / 2}u + 4u * oct + ${i}u]`;
  const quad = (h: number, half: number) => `vec4(${pair(h, 2 * half)}, ${pair(h, 2 * half + 1)})`;
  const dot = (h: number) => `s${h} += dot(k.a, ${quad(h, 0)}) + dot(k.b, ${quad(h, 1)});`;
  const scaled = (sum: string) => (kvType === 'q8' ? `(${sum}) * keys.scale` : sum);
  const keep = (_row: string, sum: string, i: number) => `kept_score${i} = select(MASKED, ${scaled(sum)}, live);`;
  const across = (write: (offset: number) => string) =>
    each(Math.log2(subgroup / keyLanes), (i) => write(keyLanes << i), ' ');
  const most = (i: number) => `var most${i} = max(M_START, kept_score${i});
  ${across((offset) => `most${i} = max(most${i}, subgroupShuffleXor(most${i}, ${offset}u));`)}`;
  const head = (i: number) => `lid % K_LANES / ${span}u * ${kept}u + ${i}u`;
  const keeps = `lid % ${span}u == 0u`;
  const isFirst = `${keeps} && lid % ${subgroup}u < K_LANES`;
  const weigh = (i: number) => `{ let m = m_of(${head(i)}); let p = softmax_p(kept_score${i}, m);
    kept_l${i} = softmax_p(kept_m${i}, m) * kept_l${i} + p; kept_m${i} = m; put_p(${head(i)}, key, kept_p(p, key)); }`;
  return `
${each(kept, (i) => `var<private> kept_score${i}: f32; var<private> kept_l${i}: f32; var<private> kept_m${i}: f32;`)}
fn start_scores() { ${each(kept, (i) => `kept_l${i} = 0.0; kept_m${i} = rounded(M_START);`, ' ')} }
fn put_scores(keys: LaneOcts, key: u32, live: bool) {
  ${each(group, (h) => `var s${h} = 0.0;`, ' ')}
  for (var i = 0u; i < LANE_OCTS; i++) {
    let oct = i * K_LANES + lid % K_LANES;
    let k = kv_oct(keys.octs[i]);
    ${each(group, dot, '\n    ')}
  }
  ${each(kept, (i) => `kept_score${i} = MASKED;`, ' ')}
  ${reduceWgsl('s', group, keyLanes, keep)}
  ${each(kept, most, '\n  ')}
  if (${isFirst}) { ${each(kept, (i) => `atomicMax(&most_of[${head(i)}], ordered(most${i}));`, ' ')} }
}
fn weigh(key: u32) {
  if (${keeps}) { ${each(kept, weigh, '\n  ')} }
}
fn put_l() {
  ${each(kept, (i) => across((offset) => `kept_l${i} += subgroupShuffleXor(kept_l${i}, ${offset}u);`), '\n  ')}
  if (${isFirst}) { ${each(kept, (i) => `put_p(${head(i)}, lid / ${subgroup}u, kept_l${i});`, ' ')} }
}`;
}

/** A quad of o of each own head, under the m that was seen last. */
function valuesWgsl(headDim: number, ownHeads: number): string {
  const rescale = (h: number) =>
    `{ let m = m_of(own_heads + ${h}u); own_o${h} *= softmax_p(own_m${h}, m); own_m${h} = m; }`;
  const put = (h: number) => `x_words[at + ${(h * headDim) / 2}u] = bitcast<vec2<u32>>(own_o${h}.xy);
  x_words[at + ${(h * headDim) / 2 + 1}u] = bitcast<vec2<u32>>(own_o${h}.zw);`;
  return `
${each(ownHeads, (h) => `var<private> own_o${h}: vec4<f32>; var<private> own_m${h}: f32;`)}
fn start_values() { ${each(ownHeads, (h) => `own_o${h} = vec4(0.0); own_m${h} = rounded(M_START);`, ' ')} }
fn rescale(own_heads: u32) {
  ${each(ownHeads, rescale, '\n  ')}
}
fn add_value(p: array<f32, ${ownHeads}>, value: vec4<f32>) {
  ${each(ownHeads, (h) => `own_o${h} += p[${h}] * value;`, ' ')}
}
fn put_o(at: u32) {
  ${each(ownHeads, put, '\n  ')}
}`;
}
