// The only setting that a chat needs: its elements are the browser's, and no components of Vue.

import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [vue({ template: { compilerOptions: { isCustomElement: (tag) => tag.startsWith('vivace-') } } })],
});
