// The text of an answer in its element: nothing of an earlier writing comes into it later.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { provideParts } from '../../../src/ui/markdown/parts';
import { WrittenText } from '../../../src/ui/turn/written_text';
import { FakeElement, FakeText, fakeDocument } from '../markdown/fake_dom';

/** More than a frame may write. */
const LONG = 40_000;

let frames: FrameRequestCallback[];

beforeEach(() => {
  frames = [];
  vi.stubGlobal('document', fakeDocument);
  vi.stubGlobal('requestAnimationFrame', (callback: FrameRequestCallback) => frames.push(callback));
});
afterEach(() => vi.unstubAllGlobals());

function runFrames(): void {
  for (let frame = frames.shift(); frame; frame = frames.shift()) frame(0);
}

function written(text: string, element = new FakeElement('div'), into = new WrittenText()) {
  into.write(element as unknown as HTMLElement, text, true);
  return { element, into };
}

test('the tree of a long JSON answer stays alone in its place', async () => {
  const tree = new FakeText('the tree');
  const showJson = (element: HTMLElement) => {
    (element as unknown as FakeElement).replaceChildren(tree);
    return true;
  };
  provideParts({ json: async () => ({ showJson }) });
  const lines = `"${'x'.repeat(500)}",\n\n`.repeat(LONG / 500);
  const busy: boolean[] = [];
  const { element } = written(`[\n\n${lines}{}]`, undefined, new WrittenText((isBusy) => busy.push(isBusy)));
  expect(busy).toEqual([true]);
  await vi.waitFor(() => expect(element.text()).toContain('the tree'));
  runFrames();
  expect(element.text()).toBe('the tree');
  expect(busy).toEqual([true, false]);
});

test('a text is busy from its end until its last letter is written, however long it was kept', () => {
  const busy: boolean[] = [];
  const into = new WrittenText((isBusy) => busy.push(isBusy));
  const { element } = written('short', undefined, into);
  expect(busy).toEqual([true, false]);
  written(`short ${'word '.repeat(LONG / 5)}`, element, into);
  expect(busy).toEqual([true, false, true]);
  runFrames();
  expect(busy).toEqual([true, false, true, false]);
});

test('an answer that goes on before its long beginning is written has each part once', () => {
  const paragraphs = Array.from({ length: LONG / 400 }, (_, i) => `<${i}> ${'word '.repeat(80)}`);
  const { element, into } = written(paragraphs.slice(0, -1).join('\n\n'));
  written(paragraphs.join('\n\n'), element, into);
  runFrames();
  const marks = element.text().match(/<\d+>/g);
  expect(marks).toEqual(paragraphs.map((_, i) => `<${i}>`));
});
