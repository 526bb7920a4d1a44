// A piece of a prompt as a file: keys and values of some tokens. Its name says all that they depend on, and its content
// carries a hash of itself. Pure. Stored names and bytes are untrusted.

import { sha256 } from '@noble/hashes/sha2.js';
import { toHex } from '../cache/piece_store';

/** Bytes of a piece, about. */
const PIECE_BYTES = 2 ** 22;
const LEAST_TOKENS = 16;
const MOST_TOKENS = 128;

const HASH_BYTES = 32;
/** The hash, the version, and the milliseconds that a prefill takes for as many tokens. */
export const HEADER_BYTES = HASH_BYTES + 8;
const VERSION = 1;

export interface Piece {
  body: Uint8Array<ArrayBuffer>;
  /** Milliseconds that these tokens took to compute, when the piece was written. */
  computeMs: number;
}

/** The tokens of each piece of a model: a power of two, so that prompts with a common beginning share pieces. */
export function tokensPerPiece(bytesPerToken: number): number {
  const most = Math.max(LEAST_TOKENS, Math.min(MOST_TOKENS, PIECE_BYTES / bytesPerToken));
  return 2 ** Math.floor(Math.log2(most));
}

/** The common facts of all pieces of a load. */
export interface PromptModel {
  /** The address of the model, with which its pieces are deleted. */
  readonly location: string;
  /** All that keys and values depend on, but for the ids: the model's bytes, the arithmetic, the layout. */
  readonly root: string;
}

/** The part of a name that tells the model's address. */
export function ownerOf(location: string): string {
  return toHex(sha256(new TextEncoder().encode(location))).slice(0, 32);
}

/** The names of the whole pieces of a prompt. Each holds a hash over all ids up to the end of the piece. */
export function pieceNames({ location, root }: PromptModel, ids: ArrayLike<number>, tokens: number): string[] {
  const owner = ownerOf(location);
  let key = sha256(new TextEncoder().encode(root));
  return Array.from({ length: Math.floor(ids.length / tokens) }, (_, i) => {
    const bytes = new Uint8Array(key.length + 4 * tokens);
    bytes.set(key);
    const view = new DataView(bytes.buffer, key.length);
    for (let t = 0; t < tokens; t++) view.setUint32(4 * t, ids[i * tokens + t], true);
    key = sha256(bytes);
    return `${owner}-${i}-${toHex(key)}`;
  });
}

/** Owner and place of a piece, or null for a name of anything else. */
export function parseName(name: string): { owner: string; index: number } | null {
  const [, owner, index] = /^([0-9a-f]{32})-(\d{1,6})-[0-9a-f]{64}$/.exec(name) ?? [];
  return owner === undefined ? null : { owner, index: Number(index) };
}

export async function packPiece({ body, computeMs }: Piece): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(HEADER_BYTES + body.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(HASH_BYTES, VERSION, true);
  view.setFloat32(HASH_BYTES + 4, computeMs, true);
  bytes.set(body, HEADER_BYTES);
  bytes.set(await hashOf(bytes));
  return bytes;
}

/** A piece with a body of `length` bytes, as it was packed. Null for anything else. */
export async function parsePiece(bytes: Uint8Array<ArrayBuffer>, length: number): Promise<Piece | null> {
  if (bytes.length !== HEADER_BYTES + length) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  const computeMs = view.getFloat32(HASH_BYTES + 4, true);
  if (view.getUint32(HASH_BYTES, true) !== VERSION || !(computeMs >= 0 && Number.isFinite(computeMs))) return null;
  const hash = await hashOf(bytes);
  return hash.every((byte, i) => byte === bytes[i]) ? { body: bytes.subarray(HEADER_BYTES), computeMs } : null;
}

async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes.subarray(HASH_BYTES)));
}
