const MARK = Symbol.for("@parley/mcp/rejection-guard");

/** A listener for unhandled rejections. The mark identifies the guard. */
type Listener = ((reason: unknown) => void) & { [MARK]?: true };

/**
 * Prevents rejections of the library from ending the process. The library handles its own promises, but a handler may
 * derive a promise from one of them and ignore it. Such a promise can reject in normal operation, for example while a
 * question has no answer yet.
 *
 * Installed once per process, even if several copies of the package are loaded.
 */
export function guardRejections(isOurs: (reason: unknown) => boolean): void {
  if (process.listeners("unhandledRejection").some(isGuard)) return;
  const guard: Listener = (reason) => {
    if (isOurs(reason)) return;
    // If the program has its own listener, that listener decides what happens.
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
 * Lets Node treat a rejection as if this guard did not exist, with its usual message, exit code,
 * `--unhandled-rejections` flag and `uncaughtException` listeners. Node processes a rejection made here before the next
 * turn of the event loop. In that next turn the guard is installed again.
 */
function raise(reason: unknown, guard: Listener): void {
  process.off("unhandledRejection", guard);
  Promise.reject(reason);
  setImmediate(() => void process.on("unhandledRejection", guard));
}
