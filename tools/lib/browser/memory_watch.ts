// The memory that a browser holds while it works: the heaps of a page and its workers by the debugging protocol, and
// the resident memory of its processes.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const HEAP_EVERY_MS = 40;
const RESIDENT_EVERY_MS = 250;

/** bytes of script objects, of array buffers, and of both at a time */
export type HeapPeak = { script: number; buffers: number; both: number };

type ResidentPeak = { all: number; renderer: number; gpu: number };

export type Peaks = { page: HeapPeak; workers: HeapPeak; resident: ResidentPeak | null };

const noHeap = (): HeapPeak => ({ script: 0, buffers: 0, both: 0 });

function raise(
  peak: HeapPeak,
  { usedSize, backingStorageSize = 0 }: { usedSize: number; backingStorageSize?: number },
) {
  peak.script = Math.max(peak.script, usedSize);
  peak.buffers = Math.max(peak.buffers, backingStorageSize);
  peak.both = Math.max(peak.both, usedSize + backingStorageSize);
}

/**
 * Watches until it is stopped, and gives the peaks since it began.
 * @param profile the folder of the browser's profile, which its command line names
 */
export async function watchMemory(page: Page, profile: string): Promise<() => Peaks> {
  const peaks: Peaks = { page: noHeap(), workers: noHeap(), resident: null };
  const session = await page.context().newCDPSession(page);
  const workers: Set<string> = new Set();
  session.on('Target.attachedToTarget', ({ sessionId }) => workers.add(sessionId));
  session.on('Target.detachedFromTarget', ({ sessionId }) => workers.delete(sessionId));
  session.on('Target.receivedMessageFromTarget', ({ message }) => {
    const { result } = JSON.parse(message);
    if (result?.usedSize !== undefined) raise(peaks.workers, result);
  });
  // Sessions of their own: the protocol's newer way of one for all is not open to us.
  await session.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });
  let id = 0;
  const askHeaps = () => {
    session
      .send('Runtime.getHeapUsage')
      .then((usage) => raise(peaks.page, usage))
      .catch(() => {});
    for (const sessionId of workers) {
      const message = JSON.stringify({ id: ++id, method: 'Runtime.getHeapUsage' });
      session.send('Target.sendMessageToTarget', { sessionId, message }).catch(() => {});
    }
  };
  const lookAround = () => {
    const now = residentOf(profile);
    if (now) peaks.resident = atMost(peaks.resident, now);
  };
  const timers = [setInterval(askHeaps, HEAP_EVERY_MS), setInterval(lookAround, RESIDENT_EVERY_MS)];
  return () => {
    for (const timer of timers) clearInterval(timer);
    session.detach().catch(() => {});
    return peaks;
  };
}

function atMost(a: ResidentPeak | null, b: ResidentPeak): ResidentPeak {
  if (!a) return b;
  return { all: Math.max(a.all, b.all), renderer: Math.max(a.renderer, b.renderer), gpu: Math.max(a.gpu, b.gpu) };
}

/** The memory of the browser with this profile and of its child processes; null where the system does not tell. */
function residentOf(profile: string) {
  if (!existsSync('/proc/self/status')) return null;
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => describe(pid) ?? []);
  const ours = new Set(processes.filter(({ command }) => command.includes(profile)).map(({ pid }) => pid));
  for (let before = -1; before < ours.size; ) {
    before = ours.size;
    for (const { pid, parent } of processes) if (ours.has(parent)) ours.add(pid);
  }
  const found = processes.filter(({ pid }) => ours.has(pid));
  const sum = (some: typeof found) => some.reduce((total, { bytes }) => total + bytes, 0);
  return {
    all: sum(found),
    renderer: Math.max(
      0,
      ...found.filter(({ command }) => command.includes('--type=renderer')).map(({ bytes }) => bytes),
    ),
    gpu: sum(found.filter(({ command }) => command.includes('--type=gpu-process'))),
  };
}

/** Null for a process that has ended meanwhile. */
function describe(pid: string) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const parent = /^PPid:\s+(\d+)/m.exec(status)?.[1] ?? '';
    const bytes = 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
    return { pid, parent, bytes, command: readFileSync(`/proc/${pid}/cmdline`, 'utf8') };
  } catch {
    return null;
  }
}
