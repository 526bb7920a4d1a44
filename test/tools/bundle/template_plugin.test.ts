// The shortening of styles and markup in templates.

import { build, type Rolldown } from 'vite';
import { expect, test } from 'vitest';
import { compactCss, compactMarkup, templatePlugin } from '../../../tools/lib/bundle/template_plugin';
import { MINIFY } from '../../../tools/lib/bundle/worker_plugin';

/** The only file that a build makes of a source. */
async function codeOf(source: string, minify: Rolldown.OutputOptions['minify']): Promise<string> {
  const entry = '/src/page.ts';
  const from = { name: 'from', resolveId: (id: string) => (id === entry ? id : null), load: () => source };
  const output = await build({
    configFile: false,
    logLevel: 'silent',
    plugins: [from, templatePlugin()],
    build: {
      write: false,
      lib: { entry, formats: ['es'] },
      rolldownOptions: { external: ['lit'], output: { minify } },
    },
  });
  const [result] = [output].flat() as Rolldown.RolldownOutput[];
  return result?.output[0].code ?? '';
}

test('a style sheet loses comments and white space that says nothing', () => {
  const sheet = `
    /* A card; its { room }. */
    :host, .card > p { margin: 0 calc(100% - 8px); color: var(--v-ink) ; }
    .card :focus-visible { outline: 2px solid }
    @media (hover: none) and (width < 40em) { .card::after { content: ' ;  /* kept */'; } }
  `;
  expect(compactCss(sheet)).toBe(
    ' :host,.card > p{margin:0 calc(100% - 8px);color:var(--v-ink)}.card :focus-visible{outline:2px solid}' +
      "@media (hover:none) and (width < 40em){.card::after{content:' ;  /* kept */'}}",
  );
});

test('values in a style sheet keep their distance', () => {
  expect(compactCss('a { margin: 0 ') + compactCss(' 4px; }')).toBe('a{margin:0  4px}');
});

test('markup keeps its line breaks and loses what follows them', () => {
  expect(compactMarkup('<p>\n      one  two\n    </p>')).toBe('<p>\none  two\n</p>');
});

test('a build shortens templates by their tags, nested ones too, and no other text', async () => {
  const source = `
    import { css, html } from 'lit';
    export const sheet = css\`
      a { color: red; }
    \`;
    export const page = (on: boolean) => html\`<b>
      \${on ? html\`<i>
        \${'\\n  kept'}</i>\` : ''}
      </b>\`;
    export const plain = \`a { color: red; }
      b\`;
  `;
  const code = await codeOf(source, false);
  expect(code).toContain('css` a{color:red}`');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
  expect(code).toContain('html`<b>\n${on ? html`<i>\n${"\\n  kept"}</i>` : ""}\n</b>`');
  expect(code).toMatch(/a \{ color: red; \}\n {6}b/);
});

/** Every place where code can hold a character that is not ASCII, escaped already in some. */
const LETTERS = String.raw`
  const html = (texts, ...values) => texts.map((text, i) => text + (values[i] ?? '')).join('');
  const größe = 1; // ü
  export const values = [
    'a·▁🙂\u2581\
é', ${'`'}·${'$'}{'▁'}🙂\u{1f642}${'`'}, html${'`'}<b title="·">${'$'}{'·'}▁🙂\\·\·\u00b7</b>${'`'},
    { '·': größe, größe },
    ...[...'·▁一龥鿿~🙂\\'].map((text) => [
      /^[一-龥]$/, /^[^一-龥ࠀ-一]$/u, /^(?:·|\u2581|\·)$/, /^[🙂-🙃]$/u, /^[\\·]$/, new RegExp('[一-龥]'),
    ].map((pattern) => pattern.test(text))),
    /(?<größe>·)/u.exec('·').groups.größe, '·'.length, '🙂'.length,
  ];`;

test('a build writes ASCII that means the same in strings, templates, patterns and names', async () => {
  const code = await codeOf(LETTERS, MINIFY);
  expect(code).toMatch(/^[\n -~]+$/);
  const valuesOf = async (module: string) =>
    (await import(/* @vite-ignore */ `data:text/javascript;charset=utf-8,${encodeURIComponent(module)}`)).values;
  expect(await valuesOf(code)).toEqual(await valuesOf(LETTERS));
});
