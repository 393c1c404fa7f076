const MARK = Symbol.for("@parley/mcp/rejection-guard");

/** How `process` emits unhandled rejections, as far as the guard cares. */
type Listener = ((reason: unknown) => void) & { [MARK]?: true };

/**
 * Keeps rejections that are ours from ending the process, and no others. The library's own promises are handled; but a
 * program may derive one from them and drop it, and the library rejects by design where a question has no answer yet.
 *
 * Installed once per process, also when several copies of the package are loaded.
 */
export function guardRejections(isOurs: (reason: unknown) => boolean): void {
  if (process.listeners("unhandledRejection").some(isGuard)) return;
  const guard: Listener = (reason) => {
    if (isOurs(reason)) return;
    // With a listener of the program's own, that listener decides, as it would without us.
    if (process.listeners("unhandledRejection").some((listener) => !isGuard(listener))) return;
    raise(reason, guard);
  };
  guard[MARK] = true;
  process.on("unhandledRejection", guard);
}

function isGuard(listener: unknown): boolean {
  return (listener as Listener)[MARK] === true;
}

/**
 * Lets Node treat a rejection as if nobody listened: its message, its exit code, the flag `--unhandled-rejections` and
 * listeners of `uncaughtException` all count. A rejection made here is looked at before the loop turns.
 */
function raise(reason: unknown, guard: Listener): void {
  process.off("unhandledRejection", guard);
  Promise.reject(reason);
  setImmediate(() => void process.on("unhandledRejection", guard));
}
