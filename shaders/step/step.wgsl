// All layers of a decode step in one dispatch (Hazy Research 2025, "No bubbles"): x, the embedding of a token, to x
// after the last layer; or of the tokens of up to ROWS conversations, so that each weight is read once for all. The
// workgroups share the rows of each product, and hand over activations in words:
//   qkv      rows of q, k, v = W n(x) + b             reads X, leaves QKV
//   attend   a split of the keys                      reads QKV, leaves PARTS
//   merge    the splits                               reads PARTS, leaves A
//   o        x += Wo a                                reads A, leaves X2
//   gate_up  h = activation(Wg n(x)) * Wu n(x)        reads X2, leaves H
//   down     x += Wd h                                reads H, leaves X of the next layer
// The residual stream stays in f32 with the workgroup that owns its rows; only its bytes travel, times the weight of
// the next norm. A product issues its loads of weights before it waits for activations, and where EARLY those of the
// next product as soon as its own are used.
// Constants: N_LAYERS (most of a range), HIDDEN, Q_SIZE, N_ROWS (of q, k and v), INTERMEDIATE, EPS, RESIDUAL_SCALE,
// BIAS; EARLY; APART (a dispatch for each phase, in tests); OWN_HIDDEN and OWN_H (values that a workgroup owns); X_AT,
// QKV_AT, PARTS_AT, A_AT, X2_AT, H_AT (first words of the regions).
struct Layer {
  qkv: vec4<u32>,         // first quad of weights and first scale of two runs of rows
  o_gate_up: vec4<u32>,
  down: vec4<u32>,        // x, y
  kinds: vec4<u32>,       // of qkv, o, gate_up, down: which formats
}

// Layers whose weights, keys and values are bound, and the work of this dispatch: layers first_layer to end_layer, of
// each the phases whose bits are set, bit 0 for qkv to bit 5 for down. BEGINS: x is published for the first layer.
struct Range {
  n_layers: u32,
  first_layer: u32,
  end_layer: u32,
  phases: u32,
  layers: array<Layer, N_LAYERS>,
}
const BEGINS = 64u;
const ENDS = 128u;    // the next dispatch begins another range or another token

@group(0) @binding(0) var<storage, read> planes: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scale_words: array<u32>;
@group(0) @binding(2) var<storage, read> params: array<f32>;             // (layers, LAYER_PARAMS)
@group(0) @binding(3) var<storage, read> rope: array<vec2<f32>>;         // (CONTEXT, DIM / 2): cos, sin
@group(0) @binding(4) var<storage, read_write> words: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> k_cache: array<KvCell>;   // (layers, slots, N_KV_HEADS, CONTEXT, cells)
@group(0) @binding(6) var<storage, read_write> v_cache: array<KvOct>;    // the same, octs
@group(0) @binding(7) var<storage, read_write> residual: array<f32>;     // (tokens, HIDDEN)
@group(0) @binding(8) var<uniform> bound: Range;

// Norm weights of attention and MLP, of q and k where QK_NORM, biases of q, k and v where BIAS.
const QK_PARAMS = select(0u, 2u * DIM, QK_NORM);
const LAYER_PARAMS = 2u * HIDDEN + QK_PARAMS + select(0u, N_ROWS, BIAS);

var<private> layer_params: u32;    // first of this layer
var<private> row_tag: u32;
var<workgroup> is_dead: u32;

// What becomes of a sum: that of a token and its i-th value of this workgroup, which is `row` of the matrix.
fn emit_qkv(token: u32, i: u32, row: u32, sum: f32) {
  var y = rstd_of(token) * sum;
  if (BIAS) { y += params[layer_params + 2u * HIDDEN + QK_PARAMS + row]; }
  publish(QKV_AT + token * N_ROWS + row, float24(y), row_tag);
}

// x += sum; y_own is x times the next norm's weight, which begins at layer_params + `norm`.
fn add_to_x(token: u32, own: u32, row: u32, sum: f32, norm: u32) {
  let i = token * OWN_HIDDEN + own;
  let x = x_own[i] + RESIDUAL_SCALE * sum;
  x_own[i] = x;
  y_own[y_at(token, own)] = without_nan(x * params[layer_params + norm + row]);
}

fn emit_o(token: u32, i: u32, row: u32, sum: f32) { add_to_x(token, i, row, sum, HIDDEN); }

fn emit_gate_up(token: u32, i: u32, gate: f32, up: f32) {
  let rstd = rstd_of(token);
  y_own[y_at(token, i)] = without_nan(activation(rstd * gate) * (rstd * up));
}

// Past the last layer of the range the weight of its own norm stands in: nobody reads these words.
fn emit_down(token: u32, i: u32, row: u32, sum: f32) { add_to_x(token, i, row, sum, next_norm); }

var<private> next_norm: u32;

fn publish_hidden(region: u32, tag: u32) {
  publish_blocks(region, wg * (OWN_HIDDEN / 16u), OWN_HIDDEN, HIDDEN / 16u, true, tag);
}

// Takes over the rows of x, and y_own for the first layer.
fn load_rows() {
  for (var i = lid; i < n_rows() * OWN_HIDDEN; i += THREADS) {
    let row = min(wg * OWN_HIDDEN + i % OWN_HIDDEN, HIDDEN - 1u);
    let x = residual[i / OWN_HIDDEN * HIDDEN + row];
    x_own[i] = x;
    y_own[y_at(i / OWN_HIDDEN, i % OWN_HIDDEN)] = without_nan(x * params[row]);
  }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) index: u32) {
  lid = index;
  wg = workgroup.x;
  let epoch = atomicLoad(&words[EPOCH]);
  spins = atomicLoad(&words[SPINS]);
  if (index == 0u) { is_dead = atomicLoad(&words[STATUS]); }
  if (workgroupUniformLoad(&is_dead) != 0u) { return; }
  if (EARLY && !APART) { load_qkv(0u); }
  load_rows();
  let phases = bound.phases;
  if ((phases & BEGINS) != 0u) { publish_hidden(X_AT, epoch & 255u); }
  for (var layer = bound.first_layer; layer < bound.end_layer; layer++) {
    let tag = (epoch + layer) & 255u;
    row_tag = tag;
    layer_params = layer * LAYER_PARAMS;
    next_norm = select(0u, LAYER_PARAMS, layer + 1u < bound.n_layers);
    if (!APART || (phases & 1u) != 0u) { qkv(layer, tag); }
    if (!APART || (phases & 2u) != 0u) { attend(workgroup.x, layer, tag); }
    if (!APART || (phases & 4u) != 0u) { merge(tag); }
    if (!APART || (phases & 8u) != 0u) {
      o(layer, tag);
      publish_hidden(X2_AT, tag);
    }
    if (!APART || (phases & 16u) != 0u) {
      gate_up(layer, tag);
      publish_blocks(H_AT, wg * (OWN_H / 16u), OWN_H, INTERMEDIATE / 16u, false, tag);
    }
    if (!APART || (phases & 32u) != 0u) {
      down(layer, tag);
      publish_hidden(X_AT, (tag + 1u) & 255u);
    }
  }
  for (var i = lid; i < n_rows() * OWN_HIDDEN; i += THREADS) {
    let row = wg * OWN_HIDDEN + i % OWN_HIDDEN;
    if (row < HIDDEN) { residual[i / OWN_HIDDEN * HIDDEN + row] = x_own[i]; }
  }
  // Every workgroup has read the epoch: it has published words that this one has waited for.
  if (wg == 0u && index == 0u && (phases & ENDS) != 0u) { atomicStore(&words[EPOCH], epoch + bound.n_layers + 1u); }
}
