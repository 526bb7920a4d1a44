// The size of <vivace-chat>: it fills the place that a page gives it, overflows no flex or grid container, and has a
// size of its own in a plain page. Its markup stays as a server rendered it.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { ready } from '../site';
import { type Hosts, openHosts, visitHost } from './host_site';

let hosts: Hosts;

beforeAll(async () => {
  hosts = await openHosts();
});

afterAll(() => hosts?.close());

const CHAT = '<vivace-chat model="/none/model.gguf" examples="one | two | three | four | five | six"></vivace-chat>';
const bar = (size: string) => `<div style="flex: none; ${size}"></div>`;

/** Styles of the parent, what lies in it, and the width and height of the chat. */
const PLACES: readonly [name: string, style: string, content: string, size: readonly [number, number]][] = [
  ['a plain page', '', CHAT, [900, 600]],
  ['a narrow column', 'width: 200px', CHAT, [200, 600]],
  ['a low flex row', 'display: flex; height: 300px', CHAT, [480, 300]],
  ['a high flex row', 'display: flex; height: 800px', CHAT, [480, 800]],
  ['a flex row beside another', 'display: flex; width: 300px; height: 300px', bar('width: 100px') + CHAT, [200, 300]],
  ['a flex column', 'display: flex; flex-direction: column; height: 400px', bar('height: 100px') + CHAT, [900, 300]],
  [
    'a crowded flex column',
    'display: flex; flex-direction: column; height: 250px',
    bar('height: 90px') + CHAT,
    [900, 200],
  ],
  ['a flex column without a height', 'display: flex; flex-direction: column', CHAT, [900, 600]],
  ['the middle of a flex column', 'display: flex; flex-direction: column; align-items: center', CHAT, [480, 600]],
  ['a low grid', 'display: grid; height: 300px', CHAT, [900, 300]],
  ['a high grid', 'display: grid; height: 800px', CHAT, [900, 800]],
  [
    'the second row of a grid',
    'display: grid; grid-template-rows: auto 1fr; height: 500px',
    bar('height: 50px') + CHAT,
    [900, 450],
  ],
  ['a column of a grid', 'display: grid; grid-template-columns: 1fr 1fr; height: 300px', CHAT, [450, 300]],
  ['a box', 'height: 350px', CHAT.replace(' ', ' style="height: 100%" '), [900, 350]],
  [
    'a frame',
    'position: relative; height: 350px',
    CHAT.replace(' ', ' style="position: absolute; inset: 0" '),
    [900, 350],
  ],
];

test('the chat takes the size of its place', async () => {
  const boxes = PLACES.map(([, style, content]) => `<div class="place" style="${style}">${content}</div>`);
  const { page } = await visitHost(hosts, {
    head: '<style>body { width: 900px; margin: 0 } .place { margin-bottom: 10px }</style>',
    body: `${boxes.join('')}<script src="${hosts.cdn}embed.js" data-position="none"></script>`,
  });
  await page.locator('vivace-chat').last().getByTestId('prompt').waitFor();
  const sizes = await page.locator('.place > vivace-chat').evaluateAll((chats) =>
    chats.map((chat) => {
      const { width, height } = chat.getBoundingClientRect();
      const scroller = chat.shadowRoot?.querySelector('.scroller');
      return { size: [width, height], scrolls: (scroller?.clientHeight ?? 0) > 0 };
    }),
  );
  const found = PLACES.map(([name], i) => ({ name, ...sizes[i] }));
  expect(found).toEqual(PLACES.map(([name, , , size]) => ({ name, size, scrolls: true })));
  await page.context().close();
});

test('an element that waits keeps the markup that a server rendered, so that React can hydrate it', async () => {
  const markup = `${CHAT.replace(' ', ' id="chat" ')}<vivace-metrics for="chat"></vivace-metrics>`;
  const { page } = await visitHost(hosts, {
    body: `<div id="place">${markup}</div><script src="${hosts.cdn}embed.js" data-position="none"></script>`,
  });
  await page.locator('vivace-chat').getByTestId('prompt').waitFor();
  expect(await page.locator('#place').innerHTML()).toBe(markup);
  await page.context().close();
});

for (const [name, markup, height] of [
  [
    'the window of a tag',
    (examples: string) => `<script src="EMBED" data-open data-examples="${examples}"></script>`,
    610,
  ],
  [
    'a chat',
    (examples: string) =>
      `<vivace-chat model="MODEL" autoload examples="${examples}" style="width: 398px; height: 450px"></vivace-chat><script src="EMBED"></script>`,
    900,
  ],
] as const) {
  test(`${name} that is low shows three examples above the composer`, async () => {
    const examples =
      'Tell me a story about a brave cat | Tell me a bedtime story about a sleepy bear | Tell me a story about a car';
    const body = markup(examples)
      .replace('EMBED', `${hosts.cdn}embed.js`)
      .replace('MODEL', `${hosts.cdn}models/storyteller/storyteller-q8_0.gguf`);
    const { page } = await visitHost(hosts, { body }, { width: 1000, height });
    await ready(page);
    await page.getByTestId('notice').getByRole('button').click();
    const below = async () => {
      const [last, composer] = [page.getByTestId('example').nth(2), page.locator('vivace-composer')];
      const [{ y = 0, height: high = 0 } = {}, { y: top = 0 } = {}] = (await Promise.all(
        [last, composer].map((each) => each.boundingBox()),
      )) as Partial<DOMRect>[];
      return Math.max(0, y + high - top);
    };
    await expect.poll(below, { timeout: 10_000, interval: 20 }).toBe(0);
    await page.context().close();
  });
}
