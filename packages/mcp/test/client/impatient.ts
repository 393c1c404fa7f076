import { platform as real } from "../../src/node/platform.js";
import type { Platform } from "../../src/platform/platform.js";

/** The wait before a lost connection is opened again when chance chooses the least. */
const LEAST_BACK_OFF_MS = 500;

/** The real platform, on which chance always chooses the least back-off and nobody waits for it. */
export const impatient: Platform = {
  ...real,
  randomBytes: (count) => new Uint8Array(count),
  timer(ms, run, keepAlive) {
    if (ms !== LEAST_BACK_OFF_MS) return real.timer(ms, run, keepAlive);
    const soon = setImmediate(run);
    return { cancel: () => clearImmediate(soon) };
  },
};
