// Parts of the page that its first paint does not need. They are asked for right after it, by themselves: what is used
// later must not cause a request.

/** Begins to load a part after the next paint. Returns what gives the part; after a failure it asks again. */
export function comesLater<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | null = null;
  const part = () => {
    loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
  requestAnimationFrame(() => setTimeout(() => void part().catch(() => {})));
  return part;
}
