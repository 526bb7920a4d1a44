// Fetches the compiler of constraints. The script tag, which is one file, does so in embed/fetch/load_compiler.ts.

export const loadCompiler = () => import('../../compiler');
