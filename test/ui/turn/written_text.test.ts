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
  vi.stubGlobal('performance', { now: () => 0 }); // each frame has time for all that it may cost
  vi.stubGlobal('requestAnimationFrame', (callback: FrameRequestCallback) => frames.push(callback));
});
afterEach(() => {
  runFrames(); // the budget is one for all tests
  vi.unstubAllGlobals();
});

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
  const onEnd = vi.fn();
  const { element, into } = written(`[\n\n${lines}{}]`, undefined, new WrittenText(onEnd));
  expect([into.isBusy, onEnd.mock.calls.length]).toEqual([true, 0]);
  await vi.waitFor(() => expect(element.text()).toContain('the tree'));
  runFrames();
  expect(element.text()).toBe('the tree');
  expect([into.isBusy, onEnd.mock.calls.length]).toEqual([false, 1]);
});

test('a text is busy from its end until its last letter is written, also after it went on', () => {
  const onEnd = vi.fn();
  const into = new WrittenText(onEnd);
  const { element } = written('short', undefined, into);
  expect([into.isBusy, onEnd.mock.calls.length]).toEqual([false, 1]);
  const long = `short ${'word '.repeat(LONG / 5)}`;
  written(long, element, into);
  expect([into.isBusy, onEnd.mock.calls.length]).toEqual([true, 1]);
  into.write(element as unknown as HTMLElement, `${long}and on`, false);
  expect(into.isBusy).toBe(false);
  runFrames();
  expect(onEnd).toHaveBeenCalledTimes(1);
  written(`${long}and on`, element, into);
  expect([into.isBusy, onEnd.mock.calls.length]).toEqual([false, 2]);
});

test('an answer that goes on before its long beginning is written has each part once', () => {
  const paragraphs = Array.from({ length: LONG / 400 }, (_, i) => `<${i}> ${'word '.repeat(80)}`);
  const { element, into } = written(paragraphs.slice(0, -1).join('\n\n'));
  written(paragraphs.join('\n\n'), element, into);
  runFrames();
  const marks = element.text().match(/<\d+>/g);
  expect(marks).toEqual(paragraphs.map((_, i) => `<${i}>`));
});
