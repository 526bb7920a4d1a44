// Addresses of models as people write them: the locations that they mean, and the complaints about illegal ones.

import { describe, expect, test } from 'vitest';
import { readModelAddress, showAddress } from '../../../src/ui/model/model_address';
import { cpuMs } from '../../cpu_time';

const BASE = 'https://page.example/chat/';
const HUB = 'https://huggingface.co';
const read = (text: string) => readModelAddress(text, BASE);

describe('what is understood', () => {
  test.each([
    ['owner/repo', `${HUB}/owner/repo/resolve/main/`],
    ['  owner/repo\n', `${HUB}/owner/repo/resolve/main/`],
    ['Owner-1/re_po.v1.5', `${HUB}/Owner-1/re_po.v1.5/resolve/main/`],
    ['owner/repo@v1.0', `${HUB}/owner/repo/resolve/v1.0/`],
    ['owner/repo@refs/pr/3', `${HUB}/owner/repo/resolve/refs%2Fpr%2F3/`],
    ['owner/repo/file.gguf', `${HUB}/owner/repo/resolve/main/file.gguf`],
    ['owner/repo@abc/sub/file.Q8_0.GGUF', `${HUB}/owner/repo/resolve/abc/sub/file.Q8_0.GGUF`],
    ['owner/repo/a b.gguf'.replace(' ', '+'), `${HUB}/owner/repo/resolve/main/a%2Bb.gguf`],
    ['hf:owner/repo@v1.0', `${HUB}/owner/repo/resolve/v1.0/`],
    ['owner/repo:Q4_K_M', `${HUB}/owner/repo/resolve/main/#Q4_K_M`],
    [`${HUB}/owner/repo/resolve/main/#Q4_K_M`, `${HUB}/owner/repo/resolve/main/#Q4_K_M`],
    [
      'https://mirror.example/hub/owner/repo/resolve/v1/x.gguf',
      'https://mirror.example/hub/owner/repo/resolve/v1/x.gguf',
    ],
    ['https://huggingface.co/owner/repo', `${HUB}/owner/repo/resolve/main/`],
    ['https://huggingface.co/owner/repo/', `${HUB}/owner/repo/resolve/main/`],
    ['https://huggingface.co/owner/repo/tree/v2', `${HUB}/owner/repo/resolve/v2/`],
    ['https://huggingface.co/owner/repo/blob/main/f.gguf?download=true#x', `${HUB}/owner/repo/resolve/main/f.gguf`],
    [
      'https://huggingface.co/owner/repo/resolve/refs%2Fpr%2F3/f.gguf',
      `${HUB}/owner/repo/resolve/refs%2Fpr%2F3/f.gguf`,
    ],
    ['hf.co/owner/repo', `${HUB}/owner/repo/resolve/main/`],
    ['HuggingFace.co/owner/repo', `${HUB}/owner/repo/resolve/main/`],
    ['https://files.example/m.gguf?sig=1', 'https://files.example/m.gguf?sig=1'],
    ['https://files.example/m/#top', 'https://files.example/m/'],
    ['http://localhost:8000/m.gguf', 'http://localhost:8000/m.gguf'],
    ['http://127.0.0.1:8000/m/', 'http://127.0.0.1:8000/m/'],
    ['./models/x.gguf', 'https://page.example/chat/models/x.gguf'],
    ['/models/x.gguf', 'https://page.example/models/x.gguf'],
    ['../x.gguf', 'https://page.example/x.gguf'],
    ['//files.example/x.gguf', 'https://files.example/x.gguf'],
  ])('%j', (text, location) => expect(read(text)).toEqual({ location }));

  test('a hub of another address, as tests have one', () => {
    const hub = 'http://127.0.0.1:7000';
    expect(readModelAddress('a/b', BASE, hub)).toEqual({ location: `${hub}/a/b/resolve/main/` });
    expect(readModelAddress(`${hub}/a/b`, BASE, hub)).toEqual({ location: `${hub}/a/b/resolve/main/` });
  });
});

describe('what is refused, in a sentence', () => {
  test.each([
    ['', /Write the name/],
    ['   ', /Write the name/],
    ['model', /Enter one as owner/],
    ['a/b/c', /Enter one as owner/],
    ['a/b/c.safetensors', /Enter one as owner/],
    ['-a/b', /Enter one as owner/],
    ['a/b@', /Enter one as owner/],
    ['a/b@../x', /Enter one as owner/],
    ['a/b/../../c/d/x.gguf', /climb/],
    ['a/b@main/./x.gguf', /climb/],
    ['https://huggingface.co/a/b/resolve/main/%2e%2e%2f%2e%2e%2fx.gguf', /climb/],
    ['https://huggingface.co/a/b/resolve/%2e%2e%2fc/x.gguf', /isn’t a model|climb/],
    ['javascript:alert(1)', /https:\/\//],
    ['JaVaScRiPt://x/%0aalert(1)', /https:\/\//],
    ['data:text/html,x', /https:\/\//],
    ['file:///etc/passwd', /https:\/\//],
    ['blob:https://page.example/x', /https:\/\//],
    ['localhost:8000/x', /https:\/\//],
    ['https://', /https:\/\//],
    ['https://user:secret@files.example/x.gguf', /user name or password/],
    ['http://files.example/x.gguf', /over https/],
    ['http://localhost.evil.example/x.gguf', /over https/],
    ['a/b\u202efugg', /invisible/],
    ['a/b\u0000', /invisible/],
    ['a b/c', /spaces/],
    ['a\\b', /backslashes/],
    ['https://huggingface.co/', /isn’t a model/],
    ['https://huggingface.co/datasets/a/b', /isn’t a model/],
    ['https://huggingface.co/spaces/a', /isn’t a model/],
    ['datasets/a', /no owner/],
    ['hf:spaces/a', /no owner/],
    ['hf:owner', /Enter one as owner/],
    ['hf:a/b:', /Enter one as owner/],
    ['a/b:Q4_K_M/x.gguf', /Enter one as owner/],
    ['x'.repeat(3000), /too long \b.*3000/],
    [`${'a'.repeat(200)}/b`, /Enter one as owner/],
  ])('%j', (text, words) => {
    const result = read(text);
    expect(result).not.toHaveProperty('location');
    const { complaint } = result as { complaint: string };
    expect(complaint).toMatch(words);
    expect(complaint).toMatch(/^\S.{10,260}\.$/u);
    expect(complaint).not.toMatch(/secret/);
  });

  test('takes no time for hostile text', () => {
    const began = cpuMs();
    for (const text of [
      `${'a.'.repeat(900)}@`,
      `a/${'-'.repeat(1900)}/`,
      `a/b/${'.gguf/'.repeat(300)}`,
      '/'.repeat(2000),
    ])
      read(text);
    expect(cpuMs() - began).toBeLessThan(5000);
  });
});

test.each([
  [`${HUB}/owner/repo/resolve/main/`, 'owner/repo'],
  [`${HUB}/owner/repo/resolve/v1/f.gguf`, 'owner/repo@v1/f.gguf'],
  [`${HUB}/owner/repo/resolve/main/#Q8_0`, 'owner/repo:Q8_0'],
  ['https://files.example/a/m%20x.gguf?sig=secret', 'files.example/a/m x.gguf'],
  ['https://page.example/models/m.gguf', '/models/m.gguf'],
  ['https://files.example/%E0%A4%A', 'files.example/%E0%A4%A'],
  ['nonsense', 'nonsense'],
])('%j is shown as %j', (location, shown) => expect(showAddress(location, BASE)).toBe(shown));
