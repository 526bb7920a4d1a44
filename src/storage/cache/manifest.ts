// What the cache knows of files and models, as kept beside the pieces. Pure.
// It is untrusted: another version wrote it, or anyone with access to the page's storage.

import { sha256 as sha256Of } from '@noble/hashes/sha2.js';
import { isJsonObject } from '../../shared/json_object';
import { toHex } from './piece_store';

/** A file behind a URL. A piece is written before its hash is named here. */
export interface FileManifest {
  url: string;
  /** Bytes of the whole file. */
  size: number;
  /** Its ETag or date; '' where the server gave none. */
  version: string;
  /** Length of every piece, in bytes, but the last, which may be shorter. */
  pieceBytes: number;
  /** SHA-256 of each piece, in hex; null: not here yet. */
  hashes: (string | null)[];
  /** SHA-256 of the whole file in hex, where all of its bytes were found to have the one that was expected. */
  sha256?: string;
  /** A load ended well with the pieces that are here: the model needs no others, such as those of weights for pictures. */
  isEnough?: true;
  /** Every piece came alike twice: an update found the server's bytes to be those that were kept. */
  isCompared?: true;
  /** Its end has not come, nor is its size known: not to be written yet. */
  isArriving?: true;
  /** Milliseconds since 1970. */
  savedAt: number;
}

/** What a repository of a hub was found to be: the commit, '' where the hub does not tell, and the file, '' for a folder. */
export interface Resolved {
  commit: string;
  file: string;
}

/** A model as it was asked for, and its files. */
export interface ModelManifest {
  /** What was given to the engine. */
  location: string;
  name: string;
  /** URLs of its files, and of those that it might have and has not. */
  files: string[];
  absent: string[];
  /** All of its files are named: it was opened once without an error. */
  isOpened: boolean;
  /** Of a hub's repository. */
  resolved?: Resolved;
  /** Milliseconds since 1970. */
  usedAt: number;
}

const MAX_TEXT = 8192;
const MAX_FILES = 4096;
const MAX_PIECES = 1 << 20;
const MAX_PIECE_BYTES = 64 * 1024 * 1024;

export const fileKey = (url: string) => `file ${url}`;
export const modelKey = (location: string) => `model ${location}`;

export function nPieces({ size, pieceBytes }: Pick<FileManifest, 'size' | 'pieceBytes'>): number {
  return Math.ceil(size / pieceBytes);
}

/** Bytes of the piece at `index`. */
export function pieceLength({ size, pieceBytes }: FileManifest, index: number): number {
  return Math.min(pieceBytes, size - index * pieceBytes);
}

/** A file of which no piece is here yet. */
export function newFile(url: string, size: number, version: string, pieceBytes: number): FileManifest {
  const hashes = new Array<null>(nPieces({ size, pieceBytes })).fill(null);
  return { url, size, version, pieceBytes, hashes, savedAt: Date.now() };
}

/** A copy of what is sound through and through, or null. */
export function parseFile(url: string, value: unknown): FileManifest | null {
  if (!isJsonObject(value) || value.url !== url || !isText(url)) return null;
  const { size, version, pieceBytes, savedAt } = value;
  if (!isCount(size) || !isCount(pieceBytes) || pieceBytes < 1 || pieceBytes > MAX_PIECE_BYTES) return null;
  const n = nPieces({ size, pieceBytes });
  if (n > MAX_PIECES || !Array.isArray(value.hashes) || value.hashes.length !== n) return null;
  const hashes = Array.from(value.hashes as unknown[]); // holes become undefined, which `every` would pass over
  if (!isText(version) || !isCount(savedAt) || !hashes.every((hash) => hash === null || isHash(hash))) return null;
  const { seal } = value;
  const whole = isHash(value.sha256) && !hashes.includes(null) ? { sha256: value.sha256 } : {};
  const enough = value.isEnough === true ? { isEnough: true as const } : {};
  const compared = value.isCompared === true ? { isCompared: true as const } : {};
  const file: FileManifest = { url, size, version, pieceBytes, hashes, savedAt, ...whole, ...enough, ...compared };
  return isSealed(seal, partsOf(value as unknown as FileManifest)) ? file : null;
}

/** As they are written: with a hash of themselves, since hashes in another order, say, are as sound as the right ones. */
export const sealedFile = (file: FileManifest) => ({ ...file, seal: sealOf(partsOf(file)) });
export const sealedModel = (model: ModelManifest) => ({ ...model, seal: sealOf(modelPartsOf(model)) });

function partsOf({ url, size, version, pieceBytes, hashes, sha256, isEnough, isCompared }: FileManifest): unknown[] {
  const whole = isHash(sha256) ? sha256 : null; // the flags are not yet known to be sound, either
  return [url, size, version, pieceBytes, hashes, whole, isEnough === true, isCompared === true];
}

function modelPartsOf({ location, name, files, absent, isOpened, resolved }: ModelManifest): unknown[] {
  return [location, name, files, absent, isOpened, resolved?.commit, resolved?.file];
}

function sealOf(parts: unknown[]): string {
  return toHex(sha256Of(new TextEncoder().encode(JSON.stringify(parts))));
}

function isSealed(seal: unknown, parts: unknown[]): boolean {
  return seal === undefined || seal === sealOf(parts); // none: it is of an earlier version
}

/** A copy of what is sound through and through, or null. */
export function parseModel(location: string, value: unknown): ModelManifest | null {
  if (!isJsonObject(value) || value.location !== location || !isText(location)) return null;
  if (!/^https?:/i.test(location) || !URL.canParse(location)) return null;
  const { name, files, absent, isOpened, usedAt } = value;
  if (!isText(name) || !isUrls(files) || !isUrls(absent) || typeof isOpened !== 'boolean') return null;
  if (!isCount(usedAt)) return null;
  const resolved = parseResolved(value.resolved);
  const known = { location, name, files: [...files], absent: [...absent], isOpened, usedAt };
  const manifest: ModelManifest = resolved ? { ...known, resolved } : known;
  return isSealed(value.seal, modelPartsOf(manifest)) ? manifest : null;
}

function parseResolved(value: unknown): Resolved | null {
  if (!isJsonObject(value)) return null;
  const { commit, file } = value;
  if (typeof commit !== 'string' || !/^([0-9a-f]{40})?$/.test(commit) || !isText(file)) return null;
  return /(^|\/)\.\.?(\/|$)/.test(file) ? null : { commit, file };
}

/** Bytes of a file that are here. */
export function bytesHere(file: FileManifest): number {
  return file.hashes.reduce((sum, hash, i) => sum + (hash === null ? 0 : pieceLength(file, i)), 0);
}

export function isWhole(file: FileManifest): boolean {
  return !file.hashes.includes(null);
}

/** Whether a load needs no piece that is not here. */
export function isEnough(file: FileManifest): boolean {
  return isWhole(file) || file.isEnough === true;
}

/** Whether both are one version of one file, cut alike. Without a version nobody knows. */
export function isSameVersion(
  a: Pick<FileManifest, 'size' | 'version'> | null,
  b: Pick<FileManifest, 'size' | 'version'>,
): boolean {
  return a !== null && b.version !== '' && a.size === b.size && a.version === b.version;
}

/** What two tabs know together of one version of a file, less the pieces that were found to be `bad`; else the newer. */
export function mergeFiles(older: FileManifest | null, newer: FileManifest, bad: ReadonlySet<string>): FileManifest {
  if (!older || !isSameVersion(older, newer) || older.pieceBytes !== newer.pieceBytes) return newer;
  const rest = older.hashes.map((hash) => (hash !== null && bad.has(hash) ? null : hash));
  const hashes = newer.hashes.map((hash, i) => hash ?? rest[i]);
  const sha256 = newer.sha256 ?? (rest.includes(null) ? undefined : older.sha256);
  const isSound = rest.every((hash, i) => hash === older.hashes[i]);
  const isEnough = newer.isEnough ?? (isSound ? older.isEnough : undefined);
  return { ...newer, hashes, savedAt: older.savedAt, ...(sha256 && { sha256 }), ...(isEnough && { isEnough }) };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT;
}

function isUrls(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= MAX_FILES && value.every(isText);
}

function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
