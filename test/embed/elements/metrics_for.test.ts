// A panel that follows the chat named by its attribute.

import { expect, test, vi } from 'vitest';
import { followChats } from '../../../src/embed/elements/metrics_for';

/** The parts of a panel that its controller uses, in a document with one chat. */
class Panel extends EventTarget {
  readonly renderRoot = { adoptedStyleSheets: [] };
  readonly dataset = {};
  readonly cancelTuning = vi.fn();
  controller!: { hostConnected(): void; hostDisconnected(): void };

  static readonly observedAttributes = ['theme', 'remember'];

  constructor(
    private readonly root: EventTarget,
    private readonly names = ['for'],
  ) {
    super();
  }

  addController(controller: Panel['controller']): void {
    this.controller = controller;
  }

  hasAttribute = (name: string) => this.names.includes(name);
  getAttribute = () => 'chat';
  getAttributeNames = () => this.names;
  getRootNode = () => this.root;

  tunes(detail: object | null): void {
    this.dispatchEvent(new CustomEvent('vivace-tuning', { detail }));
  }
}

test('a chat does not wait for the tuner of a panel that is gone', () => {
  const chat = Object.assign(new EventTarget(), { dataset: {}, tuning: null as object | null, engine: null });
  const panel = new Panel(Object.assign(new EventTarget(), { querySelector: () => chat }));
  vi.stubGlobal('customElements', { get: () => panels });
  vi.stubGlobal('document', { querySelectorAll: () => [panel] });
  vi.stubGlobal('CSS', { escape: (text: string) => text });
  const panels = { addInitializer() {} };
  followChats(panels as unknown as Parameters<typeof followChats>[0]);
  panel.controller.hostConnected();
  panel.controller.hostDisconnected();
  expect(panel.cancelTuning).not.toHaveBeenCalled();
  panel.controller.hostConnected();
  panel.tunes({ done: 1, total: 9 });
  expect(chat.tuning).toEqual({ done: 1, total: 9 });
  panel.controller.hostDisconnected();
  expect(chat.tuning).toBeNull();
  expect(panel.cancelTuning).toHaveBeenCalledOnce();
  panel.controller.hostConnected();
  panel.tunes({ done: 1, total: 9 });
  panel.tunes(null);
  expect(chat.tuning).toBeNull();
  vi.unstubAllGlobals();
});

test('a panel in a page without a chat to follow is one warning; one that a program feeds, or in a shadow root, is none', () => {
  const said = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const root = new EventTarget();
  const alone = new Panel(root, ['id']);
  const fed = Object.assign(new Panel(root, []), { info: {} });
  const inside = new Panel(new EventTarget(), []);
  const all = [alone, fed, inside];
  vi.stubGlobal('customElements', { get: () => panels });
  vi.stubGlobal('document', Object.assign(root, { querySelectorAll: () => all }));
  const panels = { addInitializer() {} };
  followChats(panels as unknown as Parameters<typeof followChats>[0]);
  for (const panel of all) panel.controller.hostConnected();
  expect(said.mock.calls.flat()).toEqual([
    'Vivace: <vivace-metrics> has no for="id of a <vivace-chat>" (docs/embedding.md); it shows no answers.',
  ]);
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test('a misspelled attribute is one warning, and those of the page are none', () => {
  const said = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const panel = new Panel(new EventTarget(), ['fro', 'remembr', 'id', 'class', 'dir', 'style', 'data-x', 'hidden']);
  vi.stubGlobal('customElements', { get: () => panels });
  vi.stubGlobal('document', { querySelectorAll: () => [panel] });
  const panels = { addInitializer() {} };
  followChats(panels as unknown as Parameters<typeof followChats>[0]);
  panel.controller.hostConnected();
  expect(said.mock.calls.flat()).toEqual([
    'Vivace: <vivace-metrics> fro is no attribute, but for is (docs/embedding.md); it is left out.',
    'Vivace: <vivace-metrics> remembr is no attribute, but remember is (docs/embedding.md); it is left out.',
  ]);
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});
