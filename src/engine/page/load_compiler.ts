// Fetches the compiler of constraints. The script tag, which is one file, has embed/load_compiler.ts instead.

export const loadCompiler = () => import('../compiler');
