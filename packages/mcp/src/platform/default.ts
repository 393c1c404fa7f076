import { printableMessage } from "../encoding/printable.js";
import { longTimer, type Platform, type Timer } from "./platform.js";
import { sha256 } from "./sha256.js";
import { webCipher } from "./web-cipher.js";

/** Globals that not every runtime has. */
interface Extras {
  setImmediate?(run: () => void): unknown;
  console?: { warn(message: string): void };
  addEventListener?(
    type: "unhandledrejection",
    listener: (event: { reason: unknown; preventDefault(): void }) => void,
  ): void;
}

// Safe: the compiler settings allow only web standards, and each member is tested before use.
const extras = globalThis as Extras;
/** Read when the module loads, so that fake timers that a test installs later do not stop the delivery of messages. */
const { setImmediate: immediate } = extras;

/** The platform for browsers, workerd, Deno and Bun: web standards only, no child processes. */
export const platform: Platform = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer: (ms, run, keepAlive) => longTimer(ms, run, keepAlive === true ? startHolding : startFree),
  defer(run) {
    if (extras.setImmediate !== undefined && immediate !== undefined) immediate(run);
    else deferByPort(run);
  },
  randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
  sha256,
  cipher: webCipher,
  // Read on each call, so that instrumentation that replaces the global sees the library's requests.
  fetch: (url, init) => globalThis.fetch(url, init),
  warn: (message) => extras.console?.warn(printableMessage(message)),
  guardRejections(isOurs) {
    if (guarded || extras.addEventListener === undefined) return;
    guarded = true;
    extras.addEventListener("unhandledrejection", (event) => {
      if (isOurs(event.reason)) event.preventDefault();
    });
  },
};

let guarded = false;

function startHolding(ms: number, run: () => void): Timer {
  const handle: unknown = setTimeout(run, ms);
  return timerOf(handle);
}

function startFree(ms: number, run: () => void): Timer {
  const handle: unknown = setTimeout(run, ms);
  unref(handle);
  return timerOf(handle);
}

function timerOf(handle: unknown): Timer {
  // Safe: the handle comes from setTimeout; only its type differs between runtimes.
  return { cancel: () => clearTimeout(handle as number) };
}

/** Lets the process end while the timer is pending. Does nothing if the handle is a plain number, as in browsers. */
function unref(handle: unknown): void {
  if (typeof handle === "object" && handle !== null) (handle as { unref?(): void }).unref?.();
}

/** Uses a message port, because browsers clamp nested timeouts to 4 ms and delay them in hidden pages. */
function deferByPort(run: () => void): void {
  if (typeof MessageChannel === "undefined") {
    setTimeout(run, 0);
    return;
  }
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    // An open port keeps some runtimes alive.
    port1.close();
    run();
  };
  port2.postMessage(undefined);
}
