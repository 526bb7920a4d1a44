// Bundlers that know assets (Vite, webpack) copy the file and put its new address here.

export const modelUrl = new URL('./storyteller-q8_0.gguf', import.meta.url).href;
