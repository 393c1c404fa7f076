// Runs in each test file that shares its process with others (scripts/pure-tests.mjs): such a file leaves the process as it found it.
import { afterAll, expect, vi } from "vitest";

const GLOBALS = [
  "Date",
  "Request",
  "Response",
  "crypto",
  "fetch",
  "queueMicrotask",
  "setImmediate",
  "setInterval",
  "setTimeout",
];
const before = stateOf();

afterAll(() => {
  expect(vi.isFakeTimers(), "fake timers are still in use").toBe(false);
  expect(stateOf()).toEqual(before);
});

function stateOf() {
  return {
    globals: GLOBALS.map((name) => globalThis[name]),
    members: [Date.now, JSON.parse, Math.random, performance.now, process.stdout.write, process.stderr.write],
    environment: { ...process.env },
    folder: process.cwd(),
  };
}
