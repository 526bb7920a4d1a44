// The records of cached files and models, stored beside the pieces. Pure. Stored records are untrusted: another version
// wrote them, or anyone with access to the page's storage.

import { sha256 as sha256Of } from '@noble/hashes/sha2.js';
import { isJsonObject } from '../../shared/json_object';
import { toHex } from './piece_store';

/** A file behind a URL. A piece is written before its hash is named here. */
export interface FileManifest {
  url: string;
  /** Size of the whole file in bytes. */
  size: number;
  /** The ETag or date; '' if the server gave none. */
  version: string;
  /** Bytes per piece. The last piece may be shorter. */
  pieceBytes: number;
  /** SHA-256 of each piece in hex, or null for a missing piece. */
  hashes: (string | null)[];
  /** SHA-256 of the whole file in hex, once all bytes were checked against the expected hash. */
  sha256?: string;
  /** A load succeeded with the stored pieces. The model needs no others, such as weights for pictures. */
  isEnough?: true;
  /** Every piece was fetched twice with equal bytes: an update compared the cache with the server. */
  isCompared?: true;
  /** The file is still arriving and its size is unknown, so that its manifest must not be written yet. */
  isArriving?: true;
  /** Milliseconds since 1970. */
  savedAt: number;
}

/** A resolved hub repository: the commit ('' if the hub does not tell) and the file ('' for a folder). */
export interface Resolved {
  commit: string;
  file: string;
}

/** A model as requested, and its files. */
export interface ModelManifest {
  /** The model's address as given to the engine. */
  location: string;
  name: string;
  /** URLs of the model's files; `absent` lists those of optional files that it does not have. */
  files: string[];
  absent: string[];
  /** The list of files is complete: the model was opened once without an error. */
  isOpened: boolean;
  /** Only for a hub's repository. */
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

/** The manifest of a file with no stored piece. */
export function newFile(url: string, size: number, version: string, pieceBytes: number): FileManifest {
  const hashes = new Array<null>(nPieces({ size, pieceBytes })).fill(null);
  return { url, size, version, pieceBytes, hashes, savedAt: Date.now() };
}

/** A copy of a fully valid record, or null. */
export function parseFile(url: string, value: unknown): FileManifest | null {
  if (!isJsonObject(value) || value.url !== url || !isText(url)) return null;
  const { size, version, pieceBytes, savedAt } = value;
  if (!isCount(size) || !isCount(pieceBytes) || pieceBytes < 1 || pieceBytes > MAX_PIECE_BYTES) return null;
  const n = nPieces({ size, pieceBytes });
  if (n > MAX_PIECES || !Array.isArray(value.hashes) || value.hashes.length !== n) return null;
  const hashes = Array.from(value.hashes as unknown[]); // holes become undefined, which `every` would skip
  if (!isText(version) || !isCount(savedAt) || !hashes.every((hash) => hash === null || isHash(hash))) return null;
  const { seal } = value;
  const whole = isHash(value.sha256) && !hashes.includes(null) ? { sha256: value.sha256 } : {};
  const enough = value.isEnough === true ? { isEnough: true as const } : {};
  const compared = value.isCompared === true ? { isCompared: true as const } : {};
  const file: FileManifest = { url, size, version, pieceBytes, hashes, savedAt, ...whole, ...enough, ...compared };
  return isSealed(seal, sealedFields(value as unknown as FileManifest)) ? file : null;
}

/**
 * A record as written: sealed with a hash of its fields. Hashes in another order, say, would pass every other check.
 */
export const sealedFile = (file: FileManifest) => ({ ...file, seal: sealOf(sealedFields(file)) });
export const sealedModel = (model: ModelManifest) => ({ ...model, seal: sealOf(sealedModelFields(model)) });

function sealedFields({
  url,
  size,
  version,
  pieceBytes,
  hashes,
  sha256,
  isEnough,
  isCompared,
}: FileManifest): unknown[] {
  const whole = isHash(sha256) ? sha256 : null; // the flags are unchecked here as well
  return [url, size, version, pieceBytes, hashes, whole, isEnough === true, isCompared === true];
}

function sealedModelFields({ location, name, files, absent, isOpened, resolved }: ModelManifest): unknown[] {
  return [location, name, files, absent, isOpened, resolved?.commit, resolved?.file];
}

function sealOf(fields: unknown[]): string {
  return toHex(sha256Of(new TextEncoder().encode(JSON.stringify(fields))));
}

function isSealed(seal: unknown, fields: unknown[]): boolean {
  return seal === undefined || seal === sealOf(fields); // records of an earlier version have no seal
}

/** A copy of a fully valid record, or null. */
export function parseModel(location: string, value: unknown): ModelManifest | null {
  if (!isJsonObject(value) || value.location !== location || !isText(location)) return null;
  if (!/^https?:/i.test(location) || !URL.canParse(location)) return null;
  const { name, files, absent, isOpened, usedAt } = value;
  if (!isText(name) || !isUrls(files) || !isUrls(absent) || typeof isOpened !== 'boolean') return null;
  if (!isCount(usedAt)) return null;
  const resolved = parseResolved(value.resolved);
  const known = { location, name, files: [...files], absent: [...absent], isOpened, usedAt };
  const manifest: ModelManifest = resolved ? { ...known, resolved } : known;
  return isSealed(value.seal, sealedModelFields(manifest)) ? manifest : null;
}

function parseResolved(value: unknown): Resolved | null {
  if (!isJsonObject(value)) return null;
  const { commit, file } = value;
  if (typeof commit !== 'string' || !/^([0-9a-f]{40})?$/.test(commit) || !isText(file)) return null;
  return /(^|\/)\.\.?(\/|$)/.test(file) ? null : { commit, file };
}

/** Bytes of the stored pieces. */
export function bytesHere(file: FileManifest): number {
  return file.hashes.reduce((sum, hash, i) => sum + (hash === null ? 0 : pieceLength(file, i)), 0);
}

export function isWhole(file: FileManifest): boolean {
  return !file.hashes.includes(null);
}

/** True when a load needs no missing piece. */
export function isEnough(file: FileManifest): boolean {
  return isWhole(file) || file.isEnough === true;
}

/** True for two manifests of one version of one file. Files without a version never match. */
export function isSameVersion(
  a: Pick<FileManifest, 'size' | 'version'> | null,
  b: Pick<FileManifest, 'size' | 'version'>,
): boolean {
  return a !== null && b.version !== '' && a.size === b.size && a.version === b.version;
}

/** Merges two tabs' manifests of one version of a file, without the `bad` pieces. For two versions: the newer. */
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
