// The copying of a text, with a sign on its button.

/** Milliseconds for which a button shows that it has copied. */
const COPIED_MS = 1600;

/** Copies a text. `show` is called with true when it is copied, and with false when the sign should go. */
export async function copyText(text: string, show: (isCopied: boolean) => void): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    return; // the page may not copy; the reader can select the text
  }
  show(true);
  setTimeout(() => show(false), COPIED_MS);
}
