// Naga, the compiler of shaders in Firefox: it refuses some programs that Dawn's compiler takes.

import { NagaError, parseWgsl, validate } from 'naga-wasm';

/** Extensions that Firefox does not have: what asks for them runs elsewhere alone. */
const ASKS = /^(enable|requires) /m;
/** The step of a shader where there are immediates, and a uniform like that in Firefox, in a group of its own. */
const IMMEDIATES = 'requires immediate_address_space;\n';
const STEP = ['var<immediate> step:', '@group(3) @binding(0) var<uniform> step:'] as const;

const accepted = new Set<string>();

/** @throws Error for a shader for every browser that Naga refuses */
export function checkWithNaga(compiled: string): void {
  const code = compiled.replace(IMMEDIATES, '').replace(...STEP);
  if (ASKS.test(code) || accepted.has(code)) return;
  try {
    const module = parseWgsl(code);
    validate(module).free();
    module.free();
  } catch (error) {
    throw error instanceof NagaError ? new Error(`Firefox refuses the shader. ${error.formatted}`) : error;
  }
  accepted.add(code);
}
