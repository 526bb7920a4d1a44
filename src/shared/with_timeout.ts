// A time limit for requests to the browser's storage, which some browsers never answer.

const DEFAULT_MS = 5000;

/** The browser did not answer in time. */
export class LateError extends Error {
  constructor(ms: number) {
    super(`The storage gave no answer for ${ms / 1000} seconds.`);
  }
}

/** The result of `ask`. @throws as `ask`, at once or later; LateError when the storage takes longer than `ms` */
export async function withTimeout<T>(ask: () => Promise<T>, ms = DEFAULT_MS): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new LateError(ms)), ms);
  });
  try {
    return await Promise.race([ask(), late]);
  } finally {
    clearTimeout(timer);
  }
}
