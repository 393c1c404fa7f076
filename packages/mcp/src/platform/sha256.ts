const BLOCK_BYTES = 64;

const ROUND_CONSTANTS = /* @__PURE__ */ fractionsOfRoots(64, Math.cbrt);
const INITIAL_STATE = /* @__PURE__ */ fractionsOfRoots(8, Math.sqrt);

/**
 * Returns the first 32 bits of the fractional parts of the roots of the first primes: the constants of the standard.
 */
function fractionsOfRoots(count: number, root: (prime: number) => number): Uint32Array {
  const words = new Uint32Array(count);
  for (let candidate = 2, found = 0; found < count; candidate++) {
    // The array stores 32 bits, so the integer part of the root is dropped.
    if (isPrime(candidate)) words[found++] = root(candidate) * 2 ** 32;
  }
  return words;
}

function isPrime(candidate: number): boolean {
  for (let divisor = 2; divisor < candidate; divisor++) if (candidate % divisor === 0) return false;
  return true;
}

/**
 * SHA-256 (FIPS 180-4) in plain JavaScript.
 *
 * WebCrypto's digest is asynchronous, but `Platform.sha256` must be synchronous. The input is short, so speed does not
 * matter. No branch or table index depends on the content, which may be a secret.
 */
export function sha256(data: Uint8Array): Uint8Array {
  const padded = pad(data);
  const view = new DataView(padded.buffer);
  const state = new Uint32Array(INITIAL_STATE);
  const schedule = new Uint32Array(64);
  for (let offset = 0; offset < padded.length; offset += BLOCK_BYTES) {
    for (let i = 0; i < 16; i++) schedule[i] = view.getUint32(offset + 4 * i);
    extend(schedule);
    compress(state, schedule);
  }
  const digest = new Uint8Array(32);
  const out = new DataView(digest.buffer);
  for (const [index, word] of state.entries()) out.setUint32(4 * index, word);
  return digest;
}

/** Appends the bit 1, zeros, and the length in bits as a 64-bit number. */
function pad(data: Uint8Array): Uint8Array<ArrayBuffer> {
  const blocks = Math.ceil((data.length + 9) / BLOCK_BYTES);
  const padded = new Uint8Array(blocks * BLOCK_BYTES);
  padded.set(data);
  padded[data.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(data.length / 0x2000_0000));
  view.setUint32(padded.length - 4, (data.length << 3) >>> 0);
  return padded;
}

function extend(w: Uint32Array): void {
  for (let i = 16; i < 64; i++) {
    const early = at(w, i - 15);
    const late = at(w, i - 2);
    const s0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const s1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    w[i] = at(w, i - 16) + s0 + at(w, i - 7) + s1;
  }
}

function compress(state: Uint32Array, w: Uint32Array): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const choice = (e & f) ^ (~e & g);
    const t1 = (h + s1 + choice + at(ROUND_CONSTANTS, i) + at(w, i)) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + s0 + majority) | 0];
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) state[index] = at(state, index) + word;
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

/** Every index is in range; the fallback only satisfies the compiler. */
function at(words: Uint32Array, index: number): number {
  return words[index] ?? 0;
}
