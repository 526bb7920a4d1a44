// Answers as JSON: asked for in the settings, with a schema that is checked while it is written, and shown as a tree.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asked, visitScripted } from '../scripted_engine';
import { answers, ended, openSite, type Site, send } from '../site';

const MANY = Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`key ${i}`, i]));
const HOSTILE = {
  '<img src=x onerror=alert(1)>': '<b>bold</b>',
  turned: 'a\u202eb\u0007c',
  deep: { deeper: { deepest: [true, null] } },
  many: MANY,
};

let site: Site;
let page: Page;
let errors: string[];

beforeAll(async () => {
  site = await openSite();
  const texts = [JSON.stringify(HOSTILE), 'Only {text}', '{"a": 1'];
  ({ page, errors } = await visitScripted(site, { answers: texts.map((text) => ({ text, piece: 900 })) }));
});

afterAll(() => site?.close());

const byId = (id: string) => page.getByTestId(id);
const tree = () => answers(page).last().getByTestId('json');
const constraintOf = async () => (await asked(page)).at(-1)?.options.constraint;

test('an answer that is JSON is a tree: folded, bounded, and nothing but text', async () => {
  await send(page, 'Go');
  expect(await ended(page)).toBe('done');
  await expect.poll(() => tree().count()).toBe(1);
  expect(await constraintOf()).toBeUndefined();
  expect(await tree().locator('img, b').count()).toBe(0);
  expect(await tree().textContent()).toContain('"<b>bold</b>"');
  expect(await tree().textContent()).toContain('"a[U+202E]b\u2407c"');
  expect(await tree().textContent()).not.toContain('deepest');
  expect(await tree().textContent()).not.toContain('key 0');
  await tree().locator('summary', { hasText: 'deeper' }).click();
  await expect.poll(() => tree().textContent()).toContain('deepest');
  await tree().locator('summary', { hasText: 'many' }).click();
  await expect.poll(() => tree().textContent()).toContain('key 99');
  expect(await tree().textContent()).not.toContain('key 100');
  await byId('json-more').click();
  await expect.poll(() => tree().textContent()).toContain('key 199');
});

test('other answers stay as they are', async () => {
  for (const text of ['Only {text}', '{"a": 1']) {
    await send(page, 'Go');
    expect(await ended(page)).toBe('done');
    await expect.poll(() => answers(page).last().textContent()).toContain(text);
    expect(await tree().count()).toBe(0);
  }
});

test('the settings ask for JSON, and a schema is checked while it is written', async () => {
  const ask = async () => {
    const before = (await asked(page)).length;
    await page.keyboard.press('Escape');
    await send(page, 'Go');
    await expect.poll(async () => (await asked(page)).length).toBe(before + 1);
    expect(await ended(page)).toBe('done');
    await byId('settings').click();
    return constraintOf();
  };
  await byId('settings').click();
  await byId('answer-form').selectOption('json');
  expect(await ask()).toEqual({ kind: 'json_object' });
  await byId('answer-form').selectOption('schema');
  const schema = byId('schema');
  const problem = byId('schema-problem');
  await schema.fill('{"type": ');
  await expect.poll(() => problem.textContent()).toContain('Until this is mended');
  await schema.fill('{"not": {}}');
  await expect.poll(() => problem.textContent()).toContain('"not"');
  expect(await schema.getAttribute('aria-invalid')).toBe('true');
  expect(await ask()).toEqual({ kind: 'json_object' });
  await schema.fill('{"type": "object", "properties": {"a": {"type": "integer"}}}');
  await expect.poll(() => problem.isHidden()).toBe(true);
  await expect
    .poll(ask)
    .toEqual({ kind: 'json_schema', schema: { type: 'object', properties: { a: { type: 'integer' } } } });
  await byId('answer-form').selectOption('text');
  expect(await ask()).toBeUndefined();
  expect(errors).toEqual([]);
});
