// The code examples of the README and the demo page.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');

test.each(['README.md', 'public/embed_demo.html'])(
  'the loop in %s collects the whole answer, its end included',
  (file) => {
    const text = readFileSync(path.join(ROOT, file), 'utf8').replaceAll('&gt;', '>');
    const [, body = ''] = /for await \(const event of [\s\S]*?\) \{\n([\s\S]*?)\n\}/.exec(text) ?? [];
    const onPage = 'const document = { body: { append(text) { answer += text; } } };';
    const loop = `let answer = ''; ${onPage} for (const event of events) { ${body} } return answer;`;
    const collect = new Function('events', loop);
    const events = [
      { type: 'prefill', done: 1, total: 1 },
      { type: 'token', text: 'a fo' },
      { type: 'warning', code: 'x', message: 'y' },
      { type: 'token', text: '' },
      { type: 'done', text: 'x', finishReason: 'length' },
    ];
    expect(collect(events)).toBe('a fox');
  },
);
