// Where the time of a decode step or of a prompt goes: each kind of dispatch alone, all layers of it, many times in one
// pass. It changes the schedule, so its figures never mix with those of the loop.

import type { Command, CommandList, Step, Submit } from '../../../src/gpu/kernel';
import { timePass } from '../../../src/gpu/time_pass';
import type { KernelRow, KernelTable, ShapeName } from '../../report';
import type { Bench } from '../bench';
import { productOperations, stepBytes } from '../synthetic/synthetic_config';
import type { SyntheticModel } from '../synthetic/synthetic_session';

const TIMING = { minMs: 10, rounds: 5, warmMs: 800, budgetMs: 1200 };
const QUICK = { minMs: 1, rounds: 1, budgetMs: 100 };

/**
 * The table of a pass of `nTokens` whose last token sees `kvLen` keys; null where the pass needs the CPU among its
 * dispatches.
 */
export async function profileKernels(
  bench: Bench,
  { llama, config }: SyntheticModel,
  shape: ShapeName,
  kvLen: number,
  nTokens = 1,
): Promise<KernelTable | null> {
  if (llama.needsHost) return null;
  const { gpu, request } = bench;
  const step = { position: kvLen - nTokens, nTokens };
  const bytes = nTokens === 1 ? stepBytes(config, request.quant, request.kv, kvLen) : new Map<string, number>();
  const operations = productOperations(config, nTokens);
  const timed: { kind: string; calls: number; ms: number }[] = [];
  let clock: KernelTable['clock'] = 'cpu';
  const end = request.answer.logprobs === undefined ? 'sample' : 'sample_logprobs';
  for (const { kind, commands, seen } of kindsOf(llama.pass(nTokens, end, step.position).submitsAt(step), step)) {
    bench.say({ text: `${shape}, ${kvLen} keys: ${kind} alone` });
    const add = (list: CommandList) => list.commands.push(...commands);
    const time = await timePass(gpu, seen, add, request.quick ? QUICK : TIMING);
    clock = time.clock;
    timed.push({ kind, calls: commands.length, ms: time.ms });
  }
  const sum = timed.reduce((total, { ms }) => total + ms, 0);
  const rows = timed.map(({ kind, calls, ms }): KernelRow => {
    const read = kind === 'layers' ? layerBytes(bytes) : (bytes.get(kind) ?? null);
    const tops = (operations.get(kind) ?? 0) / ms / 1e9 || null;
    return { kind, calls, us: (1000 * ms) / calls, bytes: read, gbps: read && read / ms / 1e6, tops, share: ms / sum };
  });
  return { shape, nTokens, kvLen, clock, rows };
}

/** The kinds of dispatches of a pass, and the step that each sees. */
function kindsOf(submits: readonly Submit[], step: Step): { kind: string; commands: readonly Command[]; seen: Step }[] {
  const whole = submits.filter((submit) => submit.step === step).flatMap(({ commands }) => commands);
  const ofLast = submits.filter((submit) => submit.step !== step);
  return [
    ...[...byKind(whole)].map(([kind, commands]) => ({ kind, commands, seen: step })),
    ...ofLast.map(({ commands, step: seen }) => ({ kind: 'last_token', commands, seen })),
  ];
}

/** Bytes that all layers read in one dispatch. */
function layerBytes(bytes: ReadonlyMap<string, number>): number {
  return ['qkv', 'attention', 'o', 'gate_up', 'down'].reduce((sum, kind) => sum + (bytes.get(kind) ?? 0), 0);
}

/** The dispatches of a step by their kind, over all layers. */
export function byKind(commands: readonly Command[]): Map<string, Command[]> {
  const kinds = new Map<string, Command[]>();
  let before = '';
  for (const command of commands) {
    const kind = kindOf(command.label, before);
    kinds.set(kind, [...(kinds.get(kind) ?? []), command]);
    if (kind !== 'quantize_activations') before = kind;
  }
  return kinds;
}

/**
 * The kind of a kernel such as `kernels/residual.matvec_q8`: its label tells, but for the two that add to the residual.
 * A fused step is one dispatch for all layers.
 */
function kindOf(label: string, before: string): string {
  if (label.startsWith('attention/') && label !== 'attention/quantize_kv') return 'attention';
  const [name] = label.slice(label.lastIndexOf('/') + 1).split('.');
  if (name === 'residual') return before === 'gate_up' || before === 'down' ? 'down' : 'o';
  if (name === 'step') return 'layers';
  return name.startsWith('gate_up') ? 'gate_up' : name;
}
