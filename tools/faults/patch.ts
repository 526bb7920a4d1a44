// Replaces methods of the platform's prototypes, and sees whether they are there at all.

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** `usual` calls what stood there. */
export type Wrap = (usual: () => unknown, self: object, args: unknown[]) => unknown;

/** The prototype of a class of this thread. Null where it has none. */
function prototypeOf(className: string): Record<string, unknown> | null {
  const found = (globalThis as Record<string, unknown>)[className];
  return typeof found === 'function' ? (found.prototype as Record<string, unknown>) : null;
}

/** Wraps methods of a class, those of them that it has. */
export function around(className: string, methods: readonly string[], wrap: Wrap): void {
  const prototype = prototypeOf(className);
  if (!prototype) return;
  for (const name of methods) {
    const usual = Object.getOwnPropertyDescriptor(prototype, name)?.value as Method | undefined;
    if (typeof usual !== 'function') continue;
    prototype[name] = function (this: object, ...args: unknown[]) {
      return wrap(() => usual.apply(this, args), this, args);
    };
  }
}

/** Makes a property read as what `read` gives, or as it was where that is 'usual'. */
export function override(target: object, name: string, read: () => unknown): void {
  let holder: object | null = target;
  while (holder && !Object.hasOwn(holder, name)) holder = Object.getPrototypeOf(holder);
  const usual = holder && Object.getOwnPropertyDescriptor(holder, name);
  if (!holder || !usual) return;
  Object.defineProperty(holder, name, {
    configurable: true,
    get(this: unknown) {
      const given = read();
      return given === 'usual' ? (usual.get ? usual.get.call(this) : usual.value) : given;
    },
  });
}

export const forever = (): Promise<never> => new Promise(() => {});

export function refusal(name: string, why: string): DOMException {
  return new DOMException(`Injected: ${why}`, name);
}
