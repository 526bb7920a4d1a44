// The script of the panel on a page whose policy refuses it.

import { expect, test, vi } from 'vitest';

test('a page whose policy knows no script of ours is told what to allow, and the chat goes on', async () => {
  class Script {
    src = 'https://cdn.example/embed.js';
  }
  vi.stubGlobal('HTMLScriptElement', Script);
  vi.stubGlobal('document', { currentScript: new Script(), createElement: () => new Script() });
  vi.stubGlobal('customElements', { get: () => undefined });
  const createPolicy = () => {
    throw new TypeError('not on the list');
  };
  vi.stubGlobal('trustedTypes', { createPolicy });
  const { addPanelScript } = await import('../../../src/embed/fetch/panel_script');
  const said: string[] = [];
  for (let i = 0; i < 2; i++) addPanelScript((message) => said.push(message));
  expect(said).toHaveLength(2);
  expect(said[1]).toContain('must allow "trusted-types vivace vivace-2"');
  vi.unstubAllGlobals();
});
