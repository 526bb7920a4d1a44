// Phones whose page is hidden: the system ends pages that work out of sight.

interface Hints {
  userAgentData?: { mobile: boolean };
}

/** True on a phone, as far as the browser tells. */
export function isPhone(): boolean {
  const mobile = (globalThis.navigator as Hints | undefined)?.userAgentData?.mobile;
  return (
    mobile ?? Boolean(globalThis.matchMedia?.('(pointer: coarse) and (hover: none) and (max-width: 1000px)').matches)
  );
}

export function isHidden(): boolean {
  return globalThis.document?.hidden === true;
}

/** Calls `listener` where a phone hides the page, and whenever it hides or shows it. Elsewhere never. */
export function onPhoneHidden(listener: (isHidden: boolean) => void, signal: AbortSignal): void {
  if (!isPhone()) return;
  if (isHidden()) listener(true);
  globalThis.document?.addEventListener('visibilitychange', () => listener(isHidden()), { signal });
}
