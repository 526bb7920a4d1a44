// Reasons of the engine in Japanese, by their English words. {0}, {1} ... are the values, which may be reasons, too.

import type { Reasons } from '../language';
import { constraintReasons } from './constraint_reasons';

const kernels: Reasons = {
  'asked for by name': '名前で指定',
  'the default, not tuned on this GPU': '既定（この GPU では未調整）',
  'tuned on this GPU {0}': '{0} にこの GPU で調整',
  'instead of {0}: {1}': '{0} の代わり：{1}',
  'what was tuned cannot run: {0}': '調整済みの値では動きません：{0}',
  'the cpu backend runs plain loops': 'cpu バックエンドは単純なループで計算します',
  '{0}, then {1}': '{0}、その先は {1}',
  '{0} up to {1} keys': '{1} キーまで {0}',
  '{0} ({1})': '{0}（{1}）',
  '1 split': '1 分割',
  '{0} splits': '{0} 分割',
  '{0} to {1} splits': '{0}～{1} 分割',
  'the shader was refused. {0}': 'シェーダーが拒否されました。{0}',
  'element {0} of its outputs is not a number': '出力の要素 {0} が数値ではありません',
  'its outputs differ from the textbook by {0} of the largest value (element {1}: {2} instead of {3})':
    '出力が基準と最大値の {0} 倍ずれています（要素 {1}：{3} のはずが {2}）',
  'its value {0} is {1}, that of the default is {2}': '値 {0} が {1} で、既定では {2} です',
  'the default, which it would be compared with, does not run': '比較対象の既定が動きません',
};

const sizes: Reasons = {
  'CHUNK {0} is above the {1} tokens of a pass': 'CHUNK {0} が 1 回の {1} トークンを超えています',
  'DV_TILE {0} does not divide head_dim {1}': 'DV_TILE {0} は head_dim {1} を割り切れません',
  'HEADS {0} is above {1}': 'HEADS {0} が {1} を超えています',
  'KEYS {0} does not divide BLOCK_N {1}': 'KEYS {0} は BLOCK_N {1} を割り切れません',
  'ROWS {0} does not divide BLOCK_M {1}': 'ROWS {0} は BLOCK_M {1} を割り切れません',
  'SPLITS {0} is above {1}': 'SPLITS {0} が {1} を超えています',
  'WORKGROUP {0} is below the {1} that head_dim {2} needs': 'WORKGROUP {0} が head_dim {2} に必要な {1} に足りません',
  'WORKGROUP {0} is below {1}': 'WORKGROUP {0} が {1} に足りません',
  'WORKGROUP {0} is no power of two from {1} up': 'WORKGROUP {0} が {1} 以上の 2 のべき乗ではありません',
  'head_dim {0} is above {1}': 'head_dim {0} が {1} を超えています',
  'head_dim {0} is no multiple of 8': 'head_dim {0} が 8 の倍数ではありません',
  'head_dim {0} needs a WORKGROUP of {1} or more, not {2}':
    'head_dim {0} には {2} ではなく {1} 以上の WORKGROUP が必要です',
  '{0} {1} is no multiple of 4': '{0} {1} が 4 の倍数ではありません',
  '{0} {1} is no positive whole number': '{0} {1} が正の整数ではありません',
  '{0} {1} is no power of two, or too large': '{0} {1} が 2 のべき乗でないか、大きすぎます',
  'a window of {0} keys is no positive whole number': '{0} キーのウィンドウは正の整数ではありません',
  'it was compiled without windows, and a layer has one of {0} keys':
    'ウィンドウなしでコンパイルされましたが、{0} キーのウィンドウを持つ層があります',
  'it has no parameter {0}, only {1}': 'パラメーター {0} はなく、{1} だけです',
  'head_dim {0} is no multiple of {1} up to {2}': 'head_dim {0} は {2} までの {1} の倍数ではありません',
  'flash_prefill_q8 for prompts from {0} keys on': '{0} キー以上のプロンプトは flash_prefill_q8',
  'it has no parameters, so no {0} either': 'パラメーターがないため、{0} もありません',
  'its chunks hold {0} tokens, not {1}': 'チャンクは {1} ではなく {0} トークン分です',
  'its scores hold {0} tokens, not {1}': 'スコアは {1} ではなく {0} トークン分です',
  'the cap of its scores, {0}, is no positive number of 32 bits': 'スコアの上限 {0} が 32 ビットの正の数ではありません',
  'the scale of its scores, {0}, is no positive number of 32 bits':
    'スコアの係数 {0} が 32 ビットの正の数ではありません',
  '{0} query heads do not share {1} key heads evenly':
    '{0} 個のクエリヘッドを {1} 個のキーヘッドに均等に分けられません',
};

const limits: Reasons = {
  'it needs {0} bytes of scratch memory in one binding, this GPU grants {1}':
    '1 つのバインディングに {0} バイトの作業メモリが必要ですが、この GPU では {1} までです',
  'it needs {0} bytes of workgroup memory, this GPU grants {1}':
    '{0} バイトのワークグループメモリが必要ですが、この GPU では {1} までです',
  'it needs {0} invocations in a workgroup, this GPU grants {1}':
    'ワークグループに {0} スレッドが必要ですが、この GPU では {1} までです',
  '{0} bytes of workgroup memory exceed the {1} of this GPU':
    'ワークグループメモリ {0} バイトは、この GPU の {1} を超えています',
  'a workgroup of {0} threads exceeds the {1} of this GPU':
    '{0} スレッドのワークグループは、この GPU の {1} を超えています',
  '{0} threads exceed the {1} of a workgroup on this GPU':
    '{0} スレッドは、この GPU のワークグループの {1} を超えています',
  '{0} lanes exceed the subgroups of {1} of this GPU': '{0} レーンは、この GPU のサブグループの {1} を超えています',
  '{0} lanes are more than the {1} threads of the workgroup': '{0} レーンは、ワークグループの {1} スレッドより多いです',
  '{0} rows a workgroup are more than two for each thread':
    'ワークグループあたり {0} 行は、スレッドあたり 2 行を超えています',
  '{0} rows a workgroup are no multiple of {1}': 'ワークグループあたり {0} 行は {1} の倍数ではありません',
  '{0} rows do not share {1} slots, of which there are 4 at most': '{0} 行を {1} スロット（最大 4）に分けられません',
  '{0} threads along the rows are no multiple of 4, or fewer than {1}':
    '行方向の {0} スレッドが 4 の倍数でないか、{1} に足りません',
  '{0} threads along the tokens are no multiple of 8': 'トークン方向の {0} スレッドが 8 の倍数ではありません',
  '{0} threads are no multiple of {1}': '{0} スレッドは {1} の倍数ではありません',
  'a part begins at row {0}, within {1} rows that belong together':
    '一部が、まとまりである {1} 行の途中の {0} 行目から始まります',
  'the activations are not in f32': 'アクティベーションが f32 ではありません',
  'weights in {0} do not fit into a mantissa': '{0} の重みは仮数部に収まりません',
  '{0}. Choose another tile of MATMUL_TILES.': '{0}。MATMUL_TILES の別のタイルを選んでください。',
  '{0}. Store the tensors of this matrix in one format.': '{0}。この行列のテンソルを同じ形式で保存してください。',
  '{0}. Use activations "f32", or other parameters.':
    '{0}。アクティベーション「f32」か別のパラメーターを使ってください。',
};

const step: Reasons = {
  'not measured yet': '未計測',
  'the CPU has no fused step': 'CPU に融合ステップはありません',
  'the adapter computes on the CPU': 'アダプターは CPU で計算します',
  'the adapter has no subgroups': 'アダプターにサブグループがありません',
  'the model writes no text': 'このモデルは文章を書きません',
  'attention "{0}" was asked for by name': 'アテンション「{0}」が名前で指定されました',
  'GPUs by Apple do not promise that waiting workgroups go on':
    'Apple の GPU では、待機中のワークグループが進むとは限りません',
  'layers normalize their outputs': '層が出力を正規化します',
  'q and k are normalized over all heads at once': 'q と k が全ヘッドまとめて正規化されます',
  'attention scores are capped': 'アテンションのスコアに上限があります',
  'some layer has a window': 'ウィンドウを持つ層があります',
  'layers differ in RoPE': '層によって RoPE が異なります',
  'layers differ in biases': '層によってバイアスが異なります',
  'o, gate, up or down has a bias': 'o、gate、up、down のいずれかにバイアスがあります',
  'a layer is larger than one binding of this GPU': '層がこの GPU の 1 つのバインディングより大きいです',
  'layer {0}: {1} {2}': '層 {0}：{1} {2}',
  'is stored as {0}, which has no integers': 'は整数のない {0} で保存されています',
  'takes more than one binding': 'は複数のバインディングを必要とします',
  'has {0} formats, more than {1}': 'の形式は {0} 種類で、{1} を超えています',
  'it binds {0} storage buffers, of which this GPU allows {1}':
    '{0} 個のストレージバッファーが必要ですが、この GPU では {1} 個までです',
  'activations are f32, and the fused step multiplies signed bytes':
    'アクティベーションは f32 ですが、融合ステップは符号付きバイトを掛けます',
  'heads of {0} values are no multiple of {1}': '{0} 個の値のヘッドは {1} の倍数ではありません',
  'sizes are no multiples of {0}': 'サイズが {0} の倍数ではありません',
  '{0} workgroups are fewer than the {1} KV heads': '{0} ワークグループは {1} 個の KV ヘッドより少ないです',
  '{0} query heads of {1} values share a KV head, more than {2} threads hold':
    '{1} 個の値のクエリヘッド {0} 個が 1 つの KV ヘッドを共有し、{2} スレッドに収まりません',
  '{0} workgroups of {1} threads ran at once here': 'ここで同時に動いたのは {1} スレッドのワークグループ {0} 個',
  '{0}, too few for {1} KV heads': '{0}、{1} 個の KV ヘッドには不足です',
  '{0}, but gave up waiting for one another': '{0}、ただし互いの待機をやめました',
  'its workgroups did not go on waiting for one another': 'ワークグループが互いの待機をやめました',
  'its {0} workgroups did not all run at once': '{0} 個のワークグループがすべて同時には動きませんでした',
  'the fused step is {0}% off plain steps, more than {1}%':
    '融合ステップは通常のステップと {0}% ずれ、{1}% を超えています',
  'the fused step gave up {0} times': '融合ステップが {0} 回中止しました',
  'the fused step took {0}, plain steps {1}': '融合ステップは {0}、通常のステップは {1} でした',
  '{0} a step here, {1} as plain steps': '1 ステップ {0}、通常のステップでは {1}',
  'plain from {0} tokens on': '{0} トークンからは通常のステップ',
  '{0}% faster than plain here': 'ここでは plain より {0}% 速い',
  '{0}% slower than plain here': 'ここでは plain より {0}% 遅い',
  'fused is {0}% faster here': 'ここでは fused のほうが {0}% 速い',
  'fused is {0}% slower here': 'ここでは fused のほうが {0}% 遅い',
  'gave up once': '1 回中止',
  'gave up {0} times': '{0} 回中止',
};

export const reasons: Reasons = { ...kernels, ...sizes, ...limits, ...step, ...constraintReasons };
