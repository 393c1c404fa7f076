import { type ErrorKind, McpError } from "@parley/mcp/protocol";
import { EXIT, type ExitCode } from "./exit-code.js";
import { loginAdvice, shellAdvice } from "./shell-advice.js";
import type { Terminal } from "./terminal.js";
import { joinText, show, showBlock, TerminalText } from "./terminal-text.js";
import { UsageError } from "./usage-error.js";

/** Kinds of errors that exit with `EXIT.unreachable`. */
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

/** The server that the command was for. */
interface FailedTarget {
  /** The server as the user named it, for advice about logins. */
  readonly name: string;
  /** True if `--grant` requests a token. */
  readonly isGranted: boolean;
}

/** Prints the cause of a failure on one line and the fix on another. Returns the exit code. */
export function reportFailure(terminal: Terminal, reason: unknown, debug: boolean, target?: FailedTarget): ExitCode {
  if (terminal.io.signal.aborted) {
    if (terminal.json) terminal.printJson({ error: { kind: "interrupted", message: "interrupted", fix: "" } });
    else terminal.note("interrupted");
    return EXIT.interrupted;
  }
  const { kind, message, fix, data, code } = describeFailure(reason, target);
  if (terminal.json) terminal.printJson({ error: { kind, message, fix, ...(data === undefined ? {} : { data }) } });
  else {
    const { red, dim } = terminal.noteStyle;
    terminal.note(joinText([red("error: "), indented(message)]));
    if (fix !== "") terminal.note(joinText([dim("fix:   "), indented(fix)]));
  }
  if (debug && reason instanceof Error) terminal.note(indented(reason.stack ?? ""));
  return code;
}

interface FailureReport {
  readonly kind: string;
  readonly message: string;
  readonly fix: string;
  readonly data?: unknown;
  readonly code: ExitCode;
}

function describeFailure(reason: unknown, target: FailedTarget | undefined): FailureReport {
  // An `--answer` that does not fit its form aborts the call with a `UsageError`. Report that error.
  if (McpError.is(reason) && reason.cause instanceof UsageError) return describeFailure(reason.cause, target);
  if (reason instanceof UsageError) {
    return { kind: "usage", message: reason.message, fix: shellAdvice(reason.fix), code: EXIT.usage };
  }
  if (!McpError.is(reason)) {
    const message = reason instanceof Error ? reason.message : String(reason);
    return { kind: "internal_error", message, fix: "", code: EXIT.failed };
  }
  const { kind, data } = reason;
  const { message, fix } =
    (target === undefined ? undefined : loginAdvice(reason, target.name, target.isGranted)) ?? reason;
  const code = UNREACHABLE.has(kind) ? EXIT.unreachable : UNAUTHORIZED.has(kind) ? EXIT.unauthorized : EXIT.failed;
  return { kind, message, fix: shellAdvice(fix), data, code };
}

/** Indents every line after the first, so that no line of the text looks like output of this program. */
function indented(text: string): TerminalText {
  const { text: inert } = showBlock(text);
  return show`${new TerminalText(inert.replaceAll("\n", "\n       "))}`;
}
