// A time limit for requests to the browser's storage, which some browsers never answer.

const DEFAULT_MS = 5000;

/** The result of `ask`. @throws as `ask`, at once or later, and when the storage takes longer than `ms` */
export async function withTimeout<T>(ask: () => Promise<T>, ms = DEFAULT_MS): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The storage does not answer.')), ms);
  });
  try {
    return await Promise.race([ask(), late]);
  } finally {
    clearTimeout(timer);
  }
}
