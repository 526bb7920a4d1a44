// Keys that belong to an input method: Enter takes a suggestion and Escape drops it, and neither is meant for the page. Pure.

/** Safari tells of the end of the composition before it tells of the key that ended it: that one is known by its code alone. */
const PROCESSED = 229;

export function isComposing(event: Pick<KeyboardEvent, 'isComposing' | 'keyCode'>): boolean {
  return event.isComposing || event.keyCode === PROCESSED;
}
