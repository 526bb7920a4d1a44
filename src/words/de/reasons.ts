// Reasons of the engine in German, by their English words. {0}, {1} ... are the values, which may be reasons, too.

import type { Reasons } from '../language';
import { constraintReasons } from './constraint_reasons';

const kernels: Reasons = {
  'asked for by name': 'ausdrücklich gewählt',
  'the default, not tuned on this GPU': 'der Standard, auf dieser GPU nicht abgestimmt',
  'tuned on this GPU {0}': 'auf dieser GPU abgestimmt am {0}',
  'instead of {0}: {1}': 'statt {0}: {1}',
  'what was tuned cannot run: {0}': 'die abgestimmten Werte laufen hier nicht: {0}',
  'the cpu backend runs plain loops': 'das CPU-Backend rechnet in einfachen Schleifen',
  '{0}, then {1}': '{0}, dann {1}',
  '{0} up to {1} keys': '{0} bis {1} Keys',
  '{0} ({1})': '{0} ({1})',
  '1 split': '1 Teil',
  '{0} splits': '{0} Teile',
  '{0} to {1} splits': '{0} bis {1} Teile',
  'the shader was refused. {0}': 'Der Shader wurde abgelehnt. {0}',
  'element {0} of its outputs is not a number': 'Element {0} seiner Ausgabe ist keine Zahl',
  'its outputs differ from the textbook by {0} of the largest value (element {1}: {2} instead of {3})':
    'seine Ausgabe weicht um das {0}-Fache des größten Werts vom Lehrbuch ab (Element {1}: {2} statt {3})',
  'its value {0} is {1}, that of the default is {2}': 'sein Wert {0} ist {1}, der des Standards {2}',
  'the default, which it would be compared with, does not run': 'der Standard, mit dem verglichen würde, läuft nicht',
};

const sizes: Reasons = {
  'CHUNK {0} is above the {1} tokens of a pass': 'CHUNK {0} ist mehr als die {1} Tokens eines Durchgangs',
  'DV_TILE {0} does not divide head_dim {1}': 'DV_TILE {0} teilt head_dim {1} nicht',
  'HEADS {0} is above {1}': 'HEADS {0} ist mehr als {1}',
  'KEYS {0} does not divide BLOCK_N {1}': 'KEYS {0} teilt BLOCK_N {1} nicht',
  'ROWS {0} does not divide BLOCK_M {1}': 'ROWS {0} teilt BLOCK_M {1} nicht',
  'SPLITS {0} is above {1}': 'SPLITS {0} ist mehr als {1}',
  'WORKGROUP {0} is below the {1} that head_dim {2} needs':
    'WORKGROUP {0} ist weniger als die {1}, die head_dim {2} braucht',
  'WORKGROUP {0} is below {1}': 'WORKGROUP {0} ist weniger als {1}',
  'WORKGROUP {0} is no power of two from {1} up': 'WORKGROUP {0} ist keine Zweierpotenz ab {1}',
  'head_dim {0} is above {1}': 'head_dim {0} ist mehr als {1}',
  'head_dim {0} is no multiple of 8': 'head_dim {0} ist kein Vielfaches von 8',
  'head_dim {0} needs a WORKGROUP of {1} or more, not {2}':
    'head_dim {0} braucht eine WORKGROUP von mindestens {1}, nicht {2}',
  '{0} {1} is no multiple of 4': '{0} {1} ist kein Vielfaches von 4',
  '{0} {1} is no positive whole number': '{0} {1} ist keine positive ganze Zahl',
  '{0} {1} is no power of two, or too large': '{0} {1} ist keine Zweierpotenz oder zu groß',
  'a window of {0} keys is no positive whole number': 'ein Fenster von {0} Keys ist keine positive ganze Zahl',
  'it was compiled without windows, and a layer has one of {0} keys':
    'er wurde ohne Fenster übersetzt, und eine Schicht hat eines von {0} Keys',
  'it has no parameter {0}, only {1}': 'er hat keinen Parameter {0}, nur {1}',
  'head_dim {0} is no multiple of {1} up to {2}': 'head_dim {0} ist kein Vielfaches von {1} bis {2}',
  'flash_prefill_q8 for prompts from {0} keys on': 'flash_prefill_q8 für Prompts ab {0} Schlüsseln',
  'it has no parameters, so no {0} either': 'er hat keine Parameter, also auch nicht {0}',
  'its chunks hold {0} tokens, not {1}': 'seine Abschnitte fassen {0} Tokens, nicht {1}',
  'its scores hold {0} tokens, not {1}': 'seine Scores fassen {0} Tokens, nicht {1}',
  'the cap of its scores, {0}, is no positive number of 32 bits':
    'die Obergrenze seiner Scores, {0}, ist keine positive Zahl mit 32 Bit',
  'the scale of its scores, {0}, is no positive number of 32 bits':
    'der Faktor seiner Scores, {0}, ist keine positive Zahl mit 32 Bit',
  '{0} query heads do not share {1} key heads evenly': '{0} Query-Heads teilen sich {1} Key-Heads nicht gleichmäßig',
};

const limits: Reasons = {
  'it needs {0} bytes of scratch memory in one binding, this GPU grants {1}':
    'er braucht {0} Byte Zwischenspeicher in einer Bindung, diese GPU erlaubt {1}',
  'it needs {0} bytes of workgroup memory, this GPU grants {1}':
    'er braucht {0} Byte Workgroup-Speicher, diese GPU erlaubt {1}',
  'it needs {0} invocations in a workgroup, this GPU grants {1}':
    'er braucht {0} Threads in einer Workgroup, diese GPU erlaubt {1}',
  '{0} bytes of workgroup memory exceed the {1} of this GPU':
    '{0} Byte Workgroup-Speicher sind mehr als die {1} dieser GPU',
  'a workgroup of {0} threads exceeds the {1} of this GPU':
    'eine Workgroup von {0} Threads ist größer als die {1} dieser GPU',
  '{0} threads exceed the {1} of a workgroup on this GPU':
    '{0} Threads sind mehr als die {1} einer Workgroup auf dieser GPU',
  '{0} lanes exceed the subgroups of {1} of this GPU': '{0} Lanes sind mehr als die Subgroups von {1} dieser GPU',
  '{0} lanes are more than the {1} threads of the workgroup': '{0} Lanes sind mehr als die {1} Threads der Workgroup',
  '{0} rows a workgroup are more than two for each thread':
    '{0} Zeilen je Workgroup sind mehr als zwei für jeden Thread',
  '{0} rows a workgroup are no multiple of {1}': '{0} Zeilen je Workgroup sind kein Vielfaches von {1}',
  '{0} rows do not share {1} slots, of which there are 4 at most':
    '{0} Zeilen teilen sich {1} Plätze nicht, von denen es höchstens 4 gibt',
  '{0} threads along the rows are no multiple of 4, or fewer than {1}':
    '{0} Threads entlang der Zeilen sind kein Vielfaches von 4 oder weniger als {1}',
  '{0} threads along the tokens are no multiple of 8': '{0} Threads entlang der Tokens sind kein Vielfaches von 8',
  '{0} threads are no multiple of {1}': '{0} Threads sind kein Vielfaches von {1}',
  'a part begins at row {0}, within {1} rows that belong together':
    'ein Teil beginnt bei Zeile {0}, innerhalb von {1} Zeilen, die zusammengehören',
  'the activations are not in f32': 'die Aktivierungen sind nicht in f32',
  'weights in {0} do not fit into a mantissa': 'Gewichte in {0} passen nicht in eine Mantisse',
  '{0}. Choose another tile of MATMUL_TILES.': '{0}. Wählen Sie eine andere Kachel aus MATMUL_TILES.',
  '{0}. Store the tensors of this matrix in one format.':
    '{0}. Speichern Sie die Tensoren dieser Matrix in einem einzigen Format.',
  '{0}. Use activations "f32", or other parameters.': '{0}. Nehmen Sie Aktivierungen „f32“ oder andere Parameter.',
};

const step: Reasons = {
  'not measured yet': 'noch nicht gemessen',
  'the CPU has no fused step': 'die CPU hat keinen verschmolzenen Schritt',
  'the adapter computes on the CPU': 'der Adapter rechnet auf der CPU',
  'the adapter has no subgroups': 'der Adapter hat keine Subgroups',
  'the model writes no text': 'das Modell schreibt keinen Text',
  'attention "{0}" was asked for by name': 'Attention „{0}“ wurde ausdrücklich gewählt',
  'GPUs by Apple do not promise that waiting workgroups go on':
    'GPUs von Apple versprechen nicht, dass wartende Workgroups weiterlaufen',
  'layers normalize their outputs': 'Schichten normieren ihre Ausgabe',
  'q and k are normalized over all heads at once': 'q und k werden über alle Heads zugleich normiert',
  'attention scores are capped': 'die Scores der Attention sind gedeckelt',
  'some layer has a window': 'eine Schicht hat ein Fenster',
  'layers differ in RoPE': 'die Schichten haben verschiedenes RoPE',
  'layers differ in biases': 'die Schichten haben verschiedene Biases',
  'o, gate, up or down has a bias': 'o, gate, up oder down hat einen Bias',
  'a layer is larger than one binding of this GPU': 'eine Schicht ist größer als eine Bindung dieser GPU',
  'layer {0}: {1} {2}': 'Schicht {0}: {1} {2}',
  'is stored as {0}, which has no integers': 'ist als {0} gespeichert, ohne ganze Zahlen',
  'takes more than one binding': 'braucht mehr als eine Bindung',
  'has {0} formats, more than {1}': 'hat {0} Formate, mehr als {1}',
  'it binds {0} storage buffers, of which this GPU allows {1}': 'er bindet {0} Storage-Puffer, diese GPU erlaubt {1}',
  'activations are f32, and the fused step multiplies signed bytes':
    'die Aktivierungen sind f32, und der verschmolzene Schritt multipliziert Bytes',
  'heads of {0} values are no multiple of {1}': 'Heads von {0} Werten sind kein Vielfaches von {1}',
  'sizes are no multiples of {0}': 'die Größen sind keine Vielfachen von {0}',
  '{0} workgroups are fewer than the {1} KV heads': '{0} Workgroups sind weniger als die {1} KV-Heads',
  '{0} query heads of {1} values share a KV head, more than {2} threads hold':
    '{0} Query-Heads von {1} Werten teilen sich einen KV-Head, mehr als {2} Threads fassen',
  '{0} workgroups of {1} threads ran at once here': 'hier liefen {0} Workgroups von {1} Threads zugleich',
  '{0}, too few for {1} KV heads': '{0}, zu wenige für {1} KV-Heads',
  '{0}, but gave up waiting for one another': '{0}, aber gaben das Warten aufeinander auf',
  'its workgroups did not go on waiting for one another': 'seine Workgroups haben nicht weiter aufeinander gewartet',
  'its {0} workgroups did not all run at once': 'seine {0} Workgroups liefen nicht alle zugleich',
  'the fused step is {0}% off plain steps, more than {1}%':
    'der verschmolzene Schritt weicht um {0} % von einfachen ab, mehr als {1} %',
  'the fused step gave up {0} times': 'der verschmolzene Schritt gab {0}-mal auf',
  'the fused step took {0}, plain steps {1}': 'der verschmolzene Schritt brauchte {0}, einfache Schritte {1}',
  '{0} a step here, {1} as plain steps': '{0} je Schritt, {1} als einfache Schritte',
  'plain from {0} tokens on': 'ab {0} Tokens einfache Schritte',
  '{0}% faster than plain here': 'hier {0} % schneller als plain',
  '{0}% slower than plain here': 'hier {0} % langsamer als plain',
  'fused is {0}% faster here': 'fused ist hier {0} % schneller',
  'fused is {0}% slower here': 'fused ist hier {0} % langsamer',
  'gave up once': 'gab einmal auf',
  'gave up {0} times': 'gab {0}-mal auf',
};

export const reasons: Reasons = { ...kernels, ...sizes, ...limits, ...step, ...constraintReasons };
