import type * as NodeCrypto from "node:crypto";
import { printableMessage } from "../encoding/printable.js";
import { type Cipher, longTimer, type Platform, type Timer } from "../platform/platform.js";
import { NONCE_BYTES, TAG_BYTES } from "../platform/web-cipher.js";
import { builtin } from "./builtin.js";
import { guardRejections } from "./rejection-guard.js";
import { spawn } from "./spawn.js";

/** Captured when the module loads, so that a test's fake timers do not stop the delivery of messages. */
const { setImmediate: immediate } = globalThis;

/** The platform for Node: synchronous ciphers, timers that do not keep the process alive, child processes. */
export const platform: Platform = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer: (ms, run, keepAlive) => longTimer(ms, run, keepAlive === true ? startTimer : startUnrefTimer),
  defer: (run) => void immediate(run),
  randomBytes: (count) => globalThis.crypto.getRandomValues(new Uint8Array(count)),
  sha256: (data) => crypto().createHash("sha256").update(data).digest(),
  cipher: nodeCipher,
  // The global is read on each call, so that instrumentation which replaces it sees the requests.
  fetch: (url, init) => globalThis.fetch(url, init),
  spawn,
  files: () => builtin("node:fs"),
  inspect: async (server, options) => (await import("./inspect-server.js")).inspectServer(server, options),
  warn: (message) => void process.stderr.write(`${printableMessage(message)}\n`),
  guardRejections,
};

function startTimer(ms: number, run: () => void): Timer {
  const handle = setTimeout(run, ms);
  return { cancel: () => clearTimeout(handle) };
}

function startUnrefTimer(ms: number, run: () => void): Timer {
  const handle = setTimeout(run, ms).unref();
  return { cancel: () => clearTimeout(handle) };
}

let loaded: typeof NodeCrypto | undefined;

/** Loaded on first use: OpenSSL's bindings take milliseconds to load, and most servers encrypt nothing. */
function crypto(): typeof NodeCrypto {
  loaded ??= builtin("node:crypto");
  return loaded;
}

function nodeCipher(secret: string, purpose: string): Cipher {
  let key: Uint8Array | undefined;
  const derived = () => {
    key ??= new Uint8Array(crypto().hkdfSync("sha256", secret, "", purpose, 32));
    return key;
  };
  return {
    seal(plain, bound) {
      const nonce = crypto().randomBytes(NONCE_BYTES);
      const cipher = crypto().createCipheriv("aes-256-gcm", derived(), nonce).setAAD(bound);
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed, bound) {
      if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
      const tagAt = sealed.length - TAG_BYTES;
      const decipher = crypto()
        .createDecipheriv("aes-256-gcm", derived(), sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
        .setAAD(bound)
        .setAuthTag(sealed.subarray(tagAt));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, tagAt)), decipher.final()]);
      } catch {
        // `final` throws if the tag does not match.
        return undefined;
      }
    },
  };
}
