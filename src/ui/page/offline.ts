// Lets the page open without a network, where the browser can: a service worker keeps the page's own files. Says when a
// newer version of the page is there.

/** The time that a new service worker has to name its build. */
const ANSWER_MS = 5000;

/** The build of this page, as its service worker would name it. '' in a page that was not built. */
function ownBuild(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="vivace-build"]')?.content ?? '';
}

/** The build of a service worker, or null if it does not say. */
function buildOf(worker: ServiceWorker): Promise<string | null> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => resolve(typeof data === 'string' ? data : null);
    setTimeout(() => resolve(null), ANSWER_MS);
    worker.postMessage(null, [port2]);
  });
}

/** @param onNew runs when a build other than this page's is there for the next opening */
export async function openOffline(onNew: () => void): Promise<void> {
  const build = ownBuild();
  if (build === '' || !('serviceWorker' in navigator)) return;
  try {
    const address = new URL('service_worker.js', document.baseURI);
    const registration = await navigator.serviceWorker.register(address, { updateViaCache: 'none' });
    registration.addEventListener('updatefound', () => {
      const { installing, active } = registration;
      if (!installing || !active) return; // the first one brings the version that is open
      installing.addEventListener('statechange', async () => {
        if (installing.state !== 'installed') return;
        const other = await buildOf(installing);
        if (other !== null && other !== build) onNew();
      });
    });
  } catch {
    // A browser that refuses (private windows, blocked storage) opens the page from the network alone.
  }
}
