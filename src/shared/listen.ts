// The type of `addEventListener` and `removeEventListener` for an element that has events of its own.

/** @template Events the element's own events by name */
export interface Listen<Events> {
  <K extends keyof Events>(
    name: K,
    listener: (event: Events[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  <K extends keyof HTMLElementEventMap>(
    name: K,
    listener: (event: HTMLElementEventMap[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  (name: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}
