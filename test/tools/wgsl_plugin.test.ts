import { expect, test } from 'vitest';
import { compactWgsl } from '../../tools/lib/wgsl_plugin.mjs';

test('comments and white space go, code stays', () => {
  const source =
    '// out = x\nenable f16;\nfn f(a : u32) -> u32 {\n  let b = a / 2u; // half\n  /* two\n  lines */ return b - a;\n}\n';
  expect(compactWgsl(source)).toBe('enable f16;fn f(a:u32)->u32{let b=a / 2u;return b - a;}');
});
