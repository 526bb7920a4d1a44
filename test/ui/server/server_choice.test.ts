// Servers as an address, a tag and storage say them.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RemoteError } from '../../../src/remote/remote_error';
import { nextStep } from '../../../src/ui/server/server_advice';
import {
  isMixed,
  isReadable,
  mayHoldSecret,
  parseRule,
  readServer,
  ruleText,
} from '../../../src/ui/server/server_choice';
import { allow, isAllowed, readLast, withdraw, writeLast } from '../../../src/ui/server/server_store';

const CHOICE = { address: 'https://far.example/v1', model: 'm', rule: 'remote' } as const;
const kept = new Map<string, string>();

beforeEach(() => {
  kept.clear();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  });
});
afterEach(() => vi.unstubAllGlobals());

test('a refused address is none, or may hold a secret', () => {
  for (const secret of ['https://me:secret@far', 'https://far/?key=secret', 'https://far/#secret'])
    expect(mayHoldSecret(secret), secret).toBe(true);
  for (const none of ['ftp://far', 'not an address', 'a@b', '']) expect(mayHoldSecret(none), none).toBe(false);
});

test('an address, a model and a rule', () => {
  const read = (server: string, rule: string | null = null) => readServer({ server, model: 'm', rule });
  expect(read('https://far.example')).toEqual(CHOICE);
  expect(read('https://far.example/openai/v1/', 'longer-than-4096')).toMatchObject({
    address: 'https://far.example/openai/v1',
    rule: { longerThan: 4096 },
  });
  expect(read('https://far.example', 'sometimes')?.rule).toBe('remote');
  expect(read('')).toBeNull();
  for (const bad of ['ftp://far', 'https://me:secret@far', 'https://far/?key=secret', 'javascript:alert(1)', 'far'])
    expect(() => read(bad)).toThrow(expect.objectContaining({ message: expect.not.stringContaining('secret') }));
});

test('rules as text, and the other way', () => {
  for (const text of ['remote', 'remote-until-loaded', 'longer-than-0', 'longer-than-4096'])
    expect(ruleText(parseRule(text)!)).toBe(text);
  for (const text of ['', 'local', 'longer-than-', 'longer-than--1', 'longer-than-1.5', 'longer-than-1e9'])
    expect(parseRule(text)).toBeNull();
});

test('what others can read, and what a browser refuses', () => {
  const of = (address: string) => ({ address });
  const readable = [
    'http://far/v1',
    'http://192.168.0.2/v1',
    'https://far/v1',
    'http://localhost/v1',
    'http://127.0.0.1/v1',
  ];
  expect(readable.map((address) => isReadable(of(address)))).toEqual([true, true, false, false, false]);
  expect(isMixed(of('http://far/v1'), 'https://page/')).toBe(true);
  expect(isMixed(of('http://far/v1'), 'http://localhost/')).toBe(false);
});

test('the last server and its key come back; what is stored wrongly does not', () => {
  writeLast({ ...CHOICE, rule: { longerThan: 9 } }, '');
  expect(readLast()).toEqual({ choice: { ...CHOICE, rule: { longerThan: 9 } }, key: '' });
  writeLast(CHOICE, 'secret');
  expect(readLast()).toEqual({ choice: CHOICE, key: 'secret' });
  for (const wrong of [
    '{',
    '[]',
    '1',
    '{"address":7}',
    '{"address":"far","rule":"remote"}',
    '{"address":"https://far"}',
    `{"a":"${'x'.repeat(20_000)}"}`,
  ]) {
    kept.set('vivace-server', wrong);
    expect(readLast(), wrong).toBeNull();
  }
});

test('consent is for one address; taken back, the key goes too', () => {
  expect(isAllowed(CHOICE)).toBe(false);
  allow(CHOICE);
  allow(CHOICE);
  expect([isAllowed(CHOICE), isAllowed({ ...CHOICE, address: 'https://far.example/v2' })]).toEqual([true, false]);
  writeLast(CHOICE, 'secret');
  withdraw(CHOICE);
  expect(isAllowed(CHOICE)).toBe(false);
  expect(JSON.stringify([...kept])).not.toContain('secret');
  for (let i = 0; i < 60; i++) allow({ ...CHOICE, address: `https://far${i}.example/v1` });
  expect(JSON.parse(kept.get('vivace-server-consent') ?? '')).toHaveLength(50);
  for (const wrong of ['{', '{}', '[1,null]', '"https://far.example/v1"']) {
    kept.set('vivace-server-consent', wrong);
    expect(isAllowed(CHOICE), wrong).toBe(false);
  }
});

test('consent covers what the dialog said would go, and no more', () => {
  const by = (rule: string) => ({ ...CHOICE, rule: parseRule(rule)! });
  const rules = ['remote', 'remote-until-loaded', 'longer-than-9', 'longer-than-10', 'longer-than-100'];
  const allowedAfter = (rule: string) => {
    kept.clear();
    allow(by(rule));
    return rules.filter((asked) => isAllowed(by(asked)));
  };
  expect(allowedAfter('remote')).toEqual(rules);
  expect(allowedAfter('remote-until-loaded')).toEqual(['remote-until-loaded']);
  expect(allowedAfter('longer-than-10')).toEqual(['longer-than-10', 'longer-than-100']);
  // A rule that is none sends as much as `remote`, so that it needs the same consent.
  kept.clear();
  for (const rule of rules.slice(1)) allow(by(rule));
  const misspelled = readServer({ server: CHOICE.address, model: null, rule: 'remote-untill-loaded' })!;
  expect(isAllowed(misspelled)).toBe(false);
  allow(by('remote'));
  expect(isAllowed(misspelled)).toBe(true);
  kept.clear();
  allow(by('longer-than-10'));
  allow(by('remote-until-loaded'));
  expect(rules.filter((rule) => isAllowed(by(rule)))).toEqual(rules.filter((rule) => !/^remote$|-9$/.test(rule)));
  withdraw(by('remote'));
  expect(kept.get('vivace-server-consent')).toBe('[]');
  // Earlier versions kept addresses alone: nobody knows what those dialogs said.
  kept.set('vivace-server-consent', JSON.stringify([CHOICE.address]));
  expect(rules.filter((rule) => isAllowed(by(rule)))).toEqual([]);
  withdraw(CHOICE);
  expect(kept.get('vivace-server-consent')).toBe('[]');
});

test('each failure has a next step', () => {
  const step = (
    code: ConstructorParameters<typeof RemoteError>[0],
    status?: number,
    hasKey = false,
    page = 'http://page/',
  ) => nextStep(new RemoteError(code, 'No.', { status }), { ...CHOICE, address: 'http://far/v1' }, page, hasKey);
  expect(step('server-unreachable')).toMatch(/^Check that far runs.*CORS.*http:\/\/page /);
  expect(step('server-unreachable', undefined, false, 'https://page/')).toMatch(/^This page was loaded by https:/);
  expect([step('server-key', 401), step('server-key', 401, true)]).toEqual([
    'Type the key of the server.',
    'Check the key, and what it may do.',
  ]);
  expect([step('server-failed', 404), step('server-failed', 500)].map((text) => text.slice(0, 9))).toEqual([
    'Check the',
    'Try again',
  ]);
  expect(step('server-busy', 429)).toMatch(/^Wait/);
  expect(step('server-answer')).toContain('OpenAI');
  expect(step('server-model')).toContain('models');
  expect([step('server-silent'), step('server-cut')]).toEqual(Array(2).fill(step('server-silent')));
  expect(nextStep(new Error('?'), CHOICE, 'http://page/', false)).toMatch(/^Check the address/);
});
