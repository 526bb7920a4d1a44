// Takes comments and indentation out of shaders on their way into a bundle: they are a third of the text. Only in builds: line numbers in errors stay true while developing.

/** @param {string} source WGSL */
export function compactWgsl(source) {
  return source
    .replace(/\/\/[^\n]*/g, '')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([=%<>(){},;:]) ?/g, '$1')
    .trim();
}

/** @returns {import('vite').Plugin} */
export function wgslPlugin() {
  return {
    name: 'compact-wgsl',
    apply: 'build',
    enforce: 'pre',
    async load(id) {
      const [file, query] = id.split('?');
      if (!file?.endsWith('.wgsl') || query !== 'raw') return null;
      const { readFile } = await import('node:fs/promises');
      return `export default ${JSON.stringify(compactWgsl(await readFile(file, 'utf8')))}`;
    },
  };
}
