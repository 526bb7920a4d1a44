import { build, type Rolldown } from 'vite';
import { expect, test } from 'vitest';
import { compactCss, compactMarkup, templatePlugin } from '../../tools/lib/template_plugin.mjs';

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
  const entry = '/src/page.ts';
  const from = { name: 'from', resolveId: (id: string) => (id === entry ? id : null), load: () => source };
  const output = await build({
    configFile: false,
    logLevel: 'silent',
    plugins: [from, templatePlugin()],
    build: { write: false, minify: false, lib: { entry, formats: ['es'] }, rolldownOptions: { external: ['lit'] } },
  });
  const [result] = [output].flat() as Rolldown.RolldownOutput[];
  const code = result?.output[0].code ?? '';
  expect(code).toContain('css` a{color:red}`');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
  expect(code).toContain('html`<b>\n${on ? html`<i>\n${"\\n  kept"}</i>` : ""}\n</b>`');
  expect(code).toMatch(/a \{ color: red; \}\n {6}b/);
});
