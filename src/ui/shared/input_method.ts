// Keys of an input method: Enter takes a suggestion and Escape drops it, and the page must ignore both. Pure.

/**
 * The key code of a key that an input method has processed. Safari reports the end of a composition before the key that
 * ended it, so only this code identifies that key.
 */
const PROCESSED = 229;

export function isComposing(event: Pick<KeyboardEvent, 'isComposing' | 'keyCode'>): boolean {
  return event.isComposing || event.keyCode === PROCESSED;
}
