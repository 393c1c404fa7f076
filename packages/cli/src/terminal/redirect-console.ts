import { Console } from "node:console";
import type { Io } from "./io.js";

/** Methods of `console` that write to stdout. */
const STDOUT_METHODS = ["log", "info", "debug", "dir", "dirxml", "table", "group", "groupCollapsed", "count"] as const;

/** Redirects `console` to stderr, because stdout is for the result. Returns a function that restores it. */
export function redirectConsole({ stderr }: Io): () => void {
  const own = globalThis.console;
  const before = Object.fromEntries(STDOUT_METHODS.map((name) => [name, own[name]]));
  const other = new Console(stderr);
  Object.assign(own, Object.fromEntries(STDOUT_METHODS.map((name) => [name, other[name].bind(other)])));
  return () => void Object.assign(own, before);
}
