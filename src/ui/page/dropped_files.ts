// Drag and drop: makes an element take dropped files, and lists the files of a drop with its folders.

const MAX_ENTRIES = 2000;
const MAX_DEPTH = 8;

interface Found {
  file: File;
  depth: number;
}

/** Gives files dropped on the target to `take`. The browser's own way would be to open them in place of the page. */
export function connectDrop(target: HTMLElement, take: (dropped: DataTransfer) => void): void {
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
  target.addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    target.classList.add('dropping');
  });
  target.addEventListener('dragleave', (event) => {
    if (!target.contains(event.relatedTarget as Node | null)) target.classList.remove('dropping');
  });
  target.addEventListener('drop', (event) => {
    target.classList.remove('dropping');
    if (!hasFiles(event)) return;
    event.preventDefault();
    take(event.dataTransfer!);
  });
}

/**
 * The files of a drop and of its folders: at most 2000 entries, 8 levels deep, none hidden. Must be called during the
 * event. The list has no paths: of two files with one name it has the less deep one, since repositories repeat names in
 * subfolders.
 */
export async function filesOf(transfer: DataTransfer): Promise<File[]> {
  const files = [...transfer.files];
  const entries = [...transfer.items].map((item) => (item.kind === 'file' ? item.webkitGetAsEntry?.() : null));
  if (!entries.some((entry) => entry?.isDirectory)) return files;
  return shallowest(await walk(entries.filter((entry) => !!entry)));
}

/** Lists level by level, so that the limits cut off the deepest files. */
async function walk(roots: FileSystemEntry[]): Promise<Found[]> {
  const found: Found[] = [];
  let level = roots;
  let nEntries = 0;
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    const next: FileSystemEntry[] = [];
    for (const entry of level) {
      if (entry.name.startsWith('.')) continue;
      if (++nEntries > MAX_ENTRIES) return found;
      if (entry.isDirectory) next.push(...(await childrenOf(entry as FileSystemDirectoryEntry)));
      else {
        const file = await fileOf(entry as FileSystemFileEntry);
        if (file) found.push({ file, depth });
      }
    }
    level = next;
  }
  return found;
}

/** The entries of a folder, a hundred a read. An unreadable folder is empty. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const children: FileSystemEntry[] = [];
  while (children.length < MAX_ENTRIES) {
    const some = await new Promise<FileSystemEntry[]>((resolve) => reader.readEntries(resolve, () => resolve([])));
    if (some.length === 0) break;
    children.push(...some);
  }
  return children;
}

function fileOf(entry: FileSystemFileEntry): Promise<File | null> {
  return new Promise((resolve) => entry.file(resolve, () => resolve(null)));
}

function shallowest(found: readonly Found[]): File[] {
  const depths = new Map<string, number>();
  for (const { file, depth } of found) depths.set(file.name, Math.min(depth, depths.get(file.name) ?? depth));
  return found.filter(({ file, depth }) => depths.get(file.name) === depth).map(({ file }) => file);
}
