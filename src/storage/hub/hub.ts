// A hub's listing of a repository: commit, files, sizes and hashes. A mirror may be a plain folder without a listing.

import { ModelFileError, VivaceError } from '../../errors';
import { isJsonObject } from '../../shared/json_object';
import { decodeUtf8, parseJsonObject } from '../checks/json';
import type { OpenOptions } from '../source/byte_source';
import { HTTP_TUNING, type HttpTuning } from '../source/http';
import { wholeUrlSource } from '../source/url_source';
import { type HubAddress, showHubAddress } from './hub_address';

export interface HubFile {
  /** Path from the repository's root. */
  path: string;
  /** Size in bytes, or null if unknown. */
  size: number | null;
  /** SHA-256 of the whole file in hex, or null if unknown. */
  sha256: string | null;
}

export interface HubListing {
  /** 40 hex digits. The files of one commit belong together and never change. */
  commit: string;
  files: HubFile[];
}

const MAX_FILES = 100_000;
const MAX_PATH = 1024;

/** URL of a repository's files at a revision, without a trailing slash. */
export function hubFolder(hub: string, { owner, name }: HubAddress, revision: string): string {
  return `${hub.replace(/\/+$/, '')}/${owner}/${name}/resolve/${encodeURIComponent(revision)}`;
}

/** URL of a file in a folder. Every part of the path is escaped. */
export function fileUrl(folder: string, path: string): string {
  return `${folder}/${path.split('/').map(encodeURIComponent).join('/')}`;
}

/**
 * The files of a repository at a revision, or null without a listing for any reason: missing files show when they are
 * opened. Source: huggingface.co/docs/hub/api, GET /api/models/{repo}/revision/{revision}.
 * @throws the signal's reason
 */
export async function listHub(
  hub: string,
  address: HubAddress,
  { signal, httpCache }: OpenOptions,
  tuning: HttpTuning = HTTP_TUNING,
): Promise<HubListing | null> {
  // The listing is optional, so fewer retries keep offline loads from waiting twice.
  const hasty = { ...tuning, retryDelaysMs: tuning.retryDelaysMs.slice(0, 2) };
  const { owner, name, revision } = address;
  const url = `${hub.replace(/\/+$/, '')}/api/models/${owner}/${name}/revision/${encodeURIComponent(revision)}?blobs=true`;
  try {
    const source = await wholeUrlSource(url, 'json', { signal, httpCache }, hasty);
    const text = decodeUtf8(source.name, 'its text', await source.read(0, source.size));
    return parseListing(parseJsonObject(`The listing of ${showHubAddress(address)}`, text));
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof VivaceError) return null;
    throw error;
  }
}

/** The valid entries of a listing, or null without a valid commit. */
function parseListing({ sha, siblings }: Record<string, unknown>): HubListing | null {
  if (typeof sha !== 'string' || !/^[0-9a-f]{40}$/.test(sha)) return null;
  if (!Array.isArray(siblings) || siblings.length > MAX_FILES) return null;
  const files = siblings.flatMap((entry: unknown): HubFile[] => {
    if (!isJsonObject(entry)) return [];
    const { rfilename: path, size, lfs } = entry;
    if (typeof path !== 'string' || path.length > MAX_PATH || /^\/|(^|\/)\.\.?(\/|$)|\p{Cc}/u.test(path)) return [];
    const hash = isJsonObject(lfs) ? lfs.sha256 : null;
    return [
      {
        path,
        size: Number.isSafeInteger(size) && (size as number) >= 0 ? (size as number) : null,
        sha256: typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash) ? hash : null,
      },
    ];
  });
  return { commit: sha, files };
}

const SPLIT = /-(\d{5})-of-(\d{5})\.gguf$/i;
const QUANTIZATION = /(?:^|[-._/])((?:I?Q|TQ)\d[A-Za-z0-9_]*|MXFP4(?:_MOE)?|BF16|F16|FP16|F32)(?=[-._]|$)/gi;
/** Default quantizations, the first available one chosen: small, and close to the original. */
const PREFERRED = ['Q4_K_M', 'Q4_0', 'Q4_K_S', 'Q5_K_M', 'Q8_0'];

/** The GGUF files of one quantization: a single file, or the parts of a split one. */
interface Choice {
  /** The file, or the first part. */
  path: string;
  /** The quantization in the file's name, in capitals; without one, the file's name. */
  label: string;
  bytes: number;
}

/**
 * Chooses a repository's GGUF file: the only one, the requested quantization, or a default with a warning.
 * @throws ModelFileError listing the quantizations with sizes, and how to name one
 */
export function chooseGguf(files: readonly HubFile[], address: HubAddress, options: OpenOptions): string {
  const choices = ggufChoices(files);
  const asked = address.quantization.toUpperCase();
  const id = showHubAddress({ ...address, quantization: '' });
  const list = choices.map(({ label, bytes }) => `${label} (${gigabytes(bytes)})`).join(', ');
  const remedy = `Name one, as in ${id}:${choices[0]?.label ?? 'Q4_K_M'}, or a file, as in ${id}/file.gguf.`;
  if (asked) {
    const labeled = choices.filter(({ label }) => label === asked);
    const found = labeled.length > 0 ? labeled : choices.filter(({ path }) => isNamed(path, asked));
    if (found.length === 1) return found[0].path;
    const what = found.length === 0 ? 'has no' : `has ${found.length} files of`;
    const paths = found.length > 1 ? `${found.map(({ path }) => path).join(', ')}.` : `There are: ${list || 'none'}.`;
    throw new ModelFileError(id, `${what} quantization ${asked}. ${paths} ${remedy}`);
  }
  if (choices.length === 1) return choices[0].path;
  for (const preferred of PREFERRED) {
    const found = choices.filter(({ label }) => label === preferred);
    if (found.length !== 1) continue;
    const message = `Of the ${choices.length} quantizations of ${id} this is ${preferred}. There are: ${list}. ${remedy}`;
    options.onWarning?.({
      code: 'quantization-chosen',
      message,
      facts: { chosen: preferred, choices: choices.length },
    });
    return found[0].path;
  }
  throw new ModelFileError(id, `holds ${choices.length} quantizations: ${list}. ${remedy}`);
}

/** True for a file that spells this quantization out, as in UD-Q4_K_XL. `asked` has letters, digits, - and _ alone. */
function isNamed(path: string, asked: string): boolean {
  return new RegExp(`(?:^|[-._/])${asked}(?=[-._]|$)`, 'i').test(path);
}

/** The GGUF models of a repository, without projector and importance-matrix files. */
export function ggufChoices(files: readonly HubFile[]): Choice[] {
  const choices = new Map<string, Choice>();
  for (const { path, size } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const name = path.split('/').at(-1) ?? '';
    if (!/\.gguf$/i.test(name) || /^mmproj|imatrix/i.test(name)) continue;
    const stem = path.replace(SPLIT, '').replace(/\.gguf$/i, '');
    const known = choices.get(stem);
    if (known) known.bytes += size ?? 0;
    else choices.set(stem, { path, label: labelOf(stem), bytes: size ?? 0 });
  }
  return [...choices.values()].sort((a, b) => a.bytes - b.bytes);
}

function labelOf(stem: string): string {
  const name = stem.split('/').at(-1) ?? stem;
  return [...name.matchAll(QUANTIZATION)].at(-1)?.[1].toUpperCase() ?? name;
}

function gigabytes(bytes: number): string {
  return bytes === 0
    ? 'of unknown size'
    : bytes < 1e9
      ? `${(bytes / 1e6).toFixed(0)} MB`
      : `${(bytes / 1e9).toFixed(1)} GB`;
}
