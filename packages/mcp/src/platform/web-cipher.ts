import type { Cipher } from "./platform.js";

/**
 * Length of the random nonce before the ciphertext, in bytes. GCM is specified for 96 bits (NIST SP 800-38D, 5.2.1.1).
 */
export const NONCE_BYTES = 12;
/** Length of the tag at the end of the ciphertext, in bytes. */
export const TAG_BYTES = 16;

/**
 * AES-256-GCM with WebCrypto. HKDF-SHA256 derives the key from `secret`, without salt and with `purpose` as info.
 * Sealed bytes are nonce, ciphertext and tag, which the cipher of every platform can open.
 */
export function webCipher(secret: string, purpose: string): Cipher {
  let key: Promise<CryptoKey> | undefined;
  // Derived on first use: workerd forbids it while modules load, and most servers never seal anything.
  const derived = () => {
    key ??= deriveKey(secret, purpose);
    return key;
  };
  return {
    async seal(plain, bound) {
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
      const algorithm = { name: "AES-GCM", iv: nonce, additionalData: bytes(bound) };
      const body = new Uint8Array(await crypto.subtle.encrypt(algorithm, await derived(), bytes(plain)));
      const sealed = new Uint8Array(NONCE_BYTES + body.length);
      sealed.set(nonce);
      sealed.set(body, NONCE_BYTES);
      return sealed;
    },
    async open(sealed, bound) {
      if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
      const iv = bytes(sealed.subarray(0, NONCE_BYTES));
      const algorithm = { name: "AES-GCM", iv, additionalData: bytes(bound) };
      const usable = await derived();
      try {
        return new Uint8Array(await crypto.subtle.decrypt(algorithm, usable, bytes(sealed.subarray(NONCE_BYTES))));
      } catch {
        // WebCrypto throws the same error for every mismatch, so the cause cannot be reported.
        return undefined;
      }
    },
  };
}

async function deriveKey(secret: string, purpose: string): Promise<CryptoKey> {
  const encoder = new TextEncoder();
  const material = await crypto.subtle.importKey("raw", encoder.encode(secret), "HKDF", false, ["deriveKey"]);
  return crypto.subtle.deriveKey(
    { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(0), info: encoder.encode(purpose) },
    material,
    { name: "AES-GCM", length: 256 },
    false,
    ["encrypt", "decrypt"],
  );
}

/** Copies bytes in shared memory, which WebCrypto does not accept and other threads could change meanwhile. */
function bytes(data: Uint8Array): Uint8Array<ArrayBuffer> {
  return data.buffer instanceof ArrayBuffer ? (data as Uint8Array<ArrayBuffer>) : new Uint8Array(data);
}
