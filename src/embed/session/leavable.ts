// Iterators of events over other iterators that a reader leaves at once. By itself an async generator returns after the
// event that it waits for, which a busy worker may send late or never.

/** The waits of a generator that a reader may leave. */
export interface Waits {
  /** Ends `events` when the reader leaves. Returns them. */
  hold<T>(events: AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined>;
  /** Resolves when the reader leaves. */
  readonly left: Promise<null>;
}

/** The generator that `make` returns. Its return() also ends what it waits for. */
export function leavable<T>(
  make: (waits: Waits) => AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  let leave = (_: null) => {};
  const left = new Promise<null>((resolve) => {
    leave = resolve;
  });
  const made = make({
    left,
    hold(events) {
      void left.then(() => events.return()).catch(() => {}); // an error also ends `made`
      return events;
    },
  });
  const end = made.return.bind(made);
  made.return = (value) => {
    leave(null);
    return end(value);
  };
  return made;
}
