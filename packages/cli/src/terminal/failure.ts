import { type ErrorKind, McpError } from "@parley/mcp";
import { EXIT, type ExitCode } from "./exit-code.js";
import { shellAdvice } from "./shell-advice.js";
import { joinShown, Shown, show, showBlock } from "./shown.js";
import type { Terminal } from "./terminal.js";
import { UsageError } from "./usage-error.js";

/** Kinds of errors after which there is, or was, no connection. */
const UNREACHABLE: ReadonlySet<ErrorKind> = new Set([
  "connect_failed",
  "connection_closed",
  "session_lost",
  "transport_error",
  "decode_error",
  "timeout",
  "unsupported_version",
]);
const UNAUTHORIZED: ReadonlySet<ErrorKind> = new Set(["auth_required", "authorization_failed", "insufficient_scope"]);

/** Prints why a command failed, in one line of cause and one of what to change, and gives its exit code. */
export function reportFailure(terminal: Terminal, reason: unknown, debug: boolean): ExitCode {
  if (terminal.io.signal.aborted) {
    if (terminal.json) terminal.printJson({ error: { kind: "interrupted", message: "interrupted", fix: "" } });
    else terminal.note("interrupted");
    return EXIT.interrupted;
  }
  const { kind, message, fix, data, code } = describe(reason);
  if (terminal.json) terminal.printJson({ error: { kind, message, fix, ...(data === undefined ? {} : { data }) } });
  else {
    const { red, dim } = terminal.noteStyle;
    terminal.note(joinShown([red("error: "), indented(message)]));
    if (fix !== "") terminal.note(joinShown([dim("fix:   "), indented(fix)]));
  }
  if (debug && reason instanceof Error) terminal.note(indented(reason.stack ?? ""));
  return code;
}

function describe(reason: unknown): { kind: string; message: string; fix: string; data?: unknown; code: ExitCode } {
  if (reason instanceof UsageError) {
    return { kind: "usage", message: reason.message, fix: reason.fix, code: EXIT.usage };
  }
  if (!McpError.is(reason)) {
    const message = reason instanceof Error ? reason.message : String(reason);
    return { kind: "internal_error", message, fix: "", code: EXIT.failed };
  }
  const { kind, message, fix, data } = reason;
  const code = UNREACHABLE.has(kind) ? EXIT.unreachable : UNAUTHORIZED.has(kind) ? EXIT.unauthorized : EXIT.failed;
  return { kind, message, fix: shellAdvice(fix), data, code };
}

/** Further lines are indented, so that none of them looks like a line of this program. */
function indented(text: string): Shown {
  const { text: inert } = showBlock(text);
  return show`${new Shown(inert.replaceAll("\n", "\n       "))}`;
}
