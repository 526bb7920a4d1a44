// Values that a page writes as it closes, in localStorage, which takes them at once. In IndexedDB a write that waits
// for another one is lost with its page. The next reader moves the values into its table.

/** Longer values would fill the few megabytes that all of the site shares. */
const MAX_LETTERS = 2_000_000;

export class LastWords {
  private moving: Promise<void> | null = null;

  /** @param name of the table. Its values are those under `name/`. */
  constructor(
    private readonly name: string,
    private readonly storage: () => Storage = () => localStorage,
  ) {}

  /** Writes a value of JSON before it returns. A value that is too long, or that the browser refuses, is left out. */
  put(key: string, value: unknown): void {
    try {
      const text = JSON.stringify(value);
      if (text.length <= MAX_LETTERS) this.storage().setItem(this.nameOf(key), text);
      else this.remove(key); // an older value would pass for the newest
    } catch {
      // The table has the value too, in most cases.
    }
  }

  remove(key: string): void {
    try {
      this.storage().removeItem(this.nameOf(key));
    } catch {
      // Where storage is refused there is nothing to remove.
    }
  }

  /** Moves all values with `write`. One that it refuses stays. Never rejects. */
  moveAll(write: (key: string, value: unknown) => Promise<unknown>): Promise<void> {
    this.moving ??= this.move(write).finally(() => {
      this.moving = null;
    });
    return this.moving;
  }

  private async move(write: (key: string, value: unknown) => Promise<unknown>): Promise<void> {
    for (const [key, text] of this.entries()) {
      const isMoved = await write(key, parse(text)).then(
        () => true,
        () => false,
      );
      // A page that was left a second time may have written meanwhile.
      if (isMoved && this.entries().some((entry) => entry[0] === key && entry[1] === text)) this.remove(key);
    }
  }

  private entries(): [key: string, text: string][] {
    try {
      const start = this.nameOf('');
      const storage = this.storage();
      const names = Object.keys(storage).filter((name) => name.startsWith(start));
      return names.map((name) => [name.slice(start.length), storage.getItem(name) ?? '']);
    } catch {
      return [];
    }
  }

  private nameOf(key: string): string {
    return `${this.name}/${key}`;
  }
}

/** Null for a damaged text: whoever reads the table checks the values. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
