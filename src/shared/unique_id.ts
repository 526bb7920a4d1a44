// Ids of conversations, turns and runs.

/** 128 random bits as hexadecimal digits. crypto.randomUUID is missing in insecure contexts such as a local network. */
export function uniqueId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The form of `uniqueId`. */
export const UNIQUE_ID = /^[0-9a-f]{32}$/;
