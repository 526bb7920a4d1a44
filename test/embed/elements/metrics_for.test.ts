// A panel that follows the chat named by its attribute.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { followChats } from '../../../src/embed/elements/metrics_for';

/** The parts of a panel that its controller uses, in a document with one chat. */
class Panel extends EventTarget {
  readonly renderRoot = { adoptedStyleSheets: [] };
  readonly dataset = {};
  readonly cancelTuning = vi.fn();
  readonly updateComplete = Promise.resolve(true);
  engine: object | null | undefined;
  controller!: { hostConnected(): void; hostDisconnected(): void };

  static readonly observedAttributes = ['theme', 'remember'];

  constructor(
    private readonly root: EventTarget,
    readonly names = ['for'],
    private readonly id = 'chat',
  ) {
    super();
  }

  addController(controller: Panel['controller']): void {
    this.controller = controller;
  }

  hasAttribute = (name: string) => this.names.includes(name);
  getAttribute = (name: string) => (this.names.includes(name) ? this.id : null);
  getAttributeNames = () => this.names;
  getRootNode = () => this.root;

  tunes(detail: object | null): void {
    this.dispatchEvent(new CustomEvent('vivace-tuning', { detail }));
  }
}

/** The observers of attributes, which a test tells of a change. */
let changed: (() => void)[] = [];

beforeEach(() => {
  changed = [];
  vi.stubGlobal(
    'MutationObserver',
    class {
      constructor(private readonly onChange: () => void) {}
      observe = () => void changed.push(this.onChange);
      disconnect = () => {
        changed = changed.filter((each) => each !== this.onChange);
      };
    },
  );
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

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
});

test('a panel in a page without a chat to follow is one warning; one that a program feeds, or in a shadow root, is none', async () => {
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
  expect(said).not.toHaveBeenCalled(); // a framework may set the attribute yet
  await Promise.resolve();
  expect(said.mock.calls.flat()).toEqual([
    'Vivace: <vivace-metrics> has no for="id of a <vivace-chat>" (docs/embedding.md); it shows no answers.',
  ]);
});

test('a misspelled attribute is one warning, and those of the page are none', async () => {
  const said = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const panel = new Panel(new EventTarget(), ['fro', 'remembr', 'id', 'class', 'dir', 'style', 'data-x', 'hidden']);
  vi.stubGlobal('customElements', { get: () => panels });
  vi.stubGlobal('document', { querySelectorAll: () => [panel] });
  const panels = { addInitializer() {} };
  followChats(panels as unknown as Parameters<typeof followChats>[0]);
  panel.controller.hostConnected();
  await Promise.resolve();
  expect(said.mock.calls.flat()).toEqual([
    'Vivace: <vivace-metrics> fro is no attribute, but for is (docs/embedding.md); it is left out.',
    'Vivace: <vivace-metrics> remembr is no attribute, but remember is (docs/embedding.md); it is left out.',
  ]);
});

test('an attribute that is set, changed or taken later is followed; a panel without one is left alone', () => {
  const chats = Object.fromEntries(
    ['one', 'two'].map((id) => [
      `vivace-chat#${id}`,
      Object.assign(new EventTarget(), { id, dataset: {}, tuning: null as object | null, engine: null }),
    ]),
  );
  const root = Object.assign(new EventTarget(), { querySelector: (selector: string) => chats[selector] ?? null });
  const panel = new Panel(root, []);
  vi.stubGlobal('customElements', { get: () => panels });
  vi.stubGlobal('document', { querySelectorAll: () => [panel] });
  vi.stubGlobal('CSS', { escape: (text: string) => text });
  const panels = { addInitializer() {} };
  followChats(panels as unknown as Parameters<typeof followChats>[0]);
  panel.controller.hostConnected();
  expect(panel.engine).toBeUndefined();
  const set = (names: string[], id = '') => {
    Object.assign(panel, { names, id });
    for (const tell of changed) tell();
    panel.tunes({ done: 1, total: 9 });
    return Object.values(chats).map(({ tuning }) => tuning !== null);
  };
  expect(set(['for'], 'one')).toEqual([true, false]);
  expect(panel.engine).toBeNull(); // that of a chat without one
  expect(set(['for'], 'two')).toEqual([false, true]);
  expect(set(['for'], '')).toEqual([false, false]);
  expect(set(['for'], 'one')).toEqual([true, false]);
  expect(set([])).toEqual([false, false]);
  panel.controller.hostDisconnected();
  expect(set(['for'], 'one')).toEqual([false, false]);
});
