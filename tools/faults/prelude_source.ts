// The prelude's code as text, inserted by bundle.ts.

export const preludeSource: string = '';
