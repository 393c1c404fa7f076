import { printableLine } from "../../encoding/printable.js";
import type { ChildEnd } from "../../platform/platform.js";
import { type ErrorKind, McpError } from "../../protocol/error.js";
import { builtin } from "../builtin.js";

/** Reason why communication with a server process failed. */
export type LaunchFailure =
  | "missing_binary"
  | "not_executable"
  | "bad_cwd"
  | "missing_env"
  | "missing_module"
  | "syntax_error"
  | "stdout_noise"
  | "exited"
  | "killed"
  | "stdin_closed"
  | "stdout_closed"
  | "no_answer";

/** How the failure of a server process was detected. */
type HowNoticed = "exited" | "stdin_closed" | "stdout_closed" | "no_answer";

/** The `data` of an `McpError` about a server process. */
export interface LaunchReportData {
  /** Reason of the failure. */
  reason: LaunchFailure;
  /** The command as configured. */
  command: string;
  /** Resolved path of the command. Absent if the command was not found. */
  resolvedPath?: string;
  /** The configured working directory. Absent if none was set. */
  cwd?: string;
  /** Exit code. Absent if the process is still running, never started, or was ended by a signal. */
  exitCode?: number;
  /** Signal that ended the process, for example `SIGKILL`. */
  signal?: string;
  /** The last lines of stderr, oldest first. */
  stderr: string[];
  /** The first line on stdout that was not a message. Absent if there was none. */
  firstNonJsonLine?: string;
  /** Number of lines on stdout that were not messages. */
  nonJsonLines: number;
}

const MAX_STDERR_LINES = 40;
const MAX_NOISE_LENGTH = 300;

/** Records what happens to one child process, and creates the error for it. */
export class LaunchReport {
  readonly stderr = new StderrRing();
  /**
   * True after the first message. An exit before the first message is a failed start. A later exit is a closed
   * connection.
   */
  answered = false;
  nonJsonLines = 0;
  #firstNonJson: string | undefined;
  #end: ChildEnd | undefined;
  readonly #command: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #cwd: string | undefined;

  constructor(command: string, env: Readonly<Record<string, string>>, cwd?: string) {
    this.#command = command;
    this.#env = env;
    this.#cwd = cwd;
  }

  /** Records a line on stdout that was not a message. */
  noise(line: string): void {
    this.nonJsonLines++;
    this.#firstNonJson ??= line.slice(0, MAX_NOISE_LENGTH);
  }

  ended(end: ChildEnd): void {
    this.#end = end;
  }

  /** Creates the error for all pending requests. `what` is how the failure was detected. */
  failure(what: HowNoticed, cause?: unknown): McpError {
    const data = this.#data(what);
    const kind: ErrorKind = this.answered ? "connection_closed" : "connect_failed";
    const output = this.#lastOutput(data);
    return new McpError(kind, output === "" ? this.#cause(data) : `${this.#cause(data)}; ${output}`, {
      data,
      fix: FIXES[data.reason](data),
      ...((cause ?? this.#end?.error) ? { cause: cause ?? this.#end?.error } : {}),
    });
  }

  #data(what: HowNoticed): LaunchReportData {
    const found = findProgram(this.#command, this.#env, this.#cwd);
    const stderr = this.stderr.lines(MAX_STDERR_LINES);
    const end = this.#end;
    return {
      reason: this.#reason(what, stderr.join("\n"), "path" in found),
      command: this.#command,
      ...("path" in found ? { resolvedPath: found.path } : {}),
      ...(this.#cwd === undefined ? {} : { cwd: this.#cwd }),
      ...(end?.code === undefined ? {} : { exitCode: end.code }),
      ...(end?.signal === undefined ? {} : { signal: end.signal }),
      stderr,
      ...(this.#firstNonJson === undefined ? {} : { firstNonJsonLine: this.#firstNonJson }),
      nonJsonLines: this.nonJsonLines,
    };
  }

  #reason(what: HowNoticed, stderr: string, found: boolean): LaunchFailure {
    const error = this.#end?.error as NodeJS.ErrnoException | undefined;
    if (error?.code === "ENOENT") return found || badFolder(this.#cwd) ? "bad_cwd" : "missing_binary";
    if (error !== undefined) return "not_executable";
    const failed = this.#end !== undefined && this.#end.code !== 0;
    if (!this.answered && failed) {
      if (/\b(Syntax|Indentation)Error\b|\bsyntax error\b/i.test(stderr)) return "syntax_error";
      if (/Cannot find (module|package)|ModuleNotFoundError|ERR_MODULE_NOT_FOUND/.test(stderr)) return "missing_module";
      if (missingVariable(stderr) !== undefined) return "missing_env";
    }
    if (!this.answered && this.nonJsonLines > 0 && !failed) return "stdout_noise";
    if (this.#end?.signal !== undefined) return "killed";
    return this.#end === undefined ? (what === "exited" ? "no_answer" : what) : "exited";
  }

  #cause(data: LaunchReportData): string {
    const command = JSON.stringify(data.command);
    switch (data.reason) {
      case "missing_binary":
        return `${command} was not found`;
      case "bad_cwd":
        return `${command} could not start because its folder ${data.cwd ?? "`cwd`"} cannot be used`;
      case "not_executable":
        return `${command} could not be started: ${this.#end?.error?.message}`;
      case "stdin_closed":
        return `${command} closed its stdin but is still running`;
      case "stdout_closed":
        return `${command} closed its stdout but is still running`;
      case "no_answer":
        return `${command} is running but did not answer`;
      case "stdout_noise":
        return `${command} printed text on stdout instead of messages`;
      default:
        return `${command} ${data.signal ? `was ended by ${data.signal}` : `exited with code ${data.exitCode}`}`;
    }
  }

  #lastOutput(data: LaunchReportData): string {
    const last = data.stderr.at(-1);
    const relevant = data.stderr.findLast((line) => /error|missing|required|must|not /i.test(line)) ?? last;
    const parts: string[] = [];
    if (relevant !== undefined) parts.push(`stderr: ${printableLine(relevant.trim().slice(0, MAX_NOISE_LENGTH))}`);
    if (data.firstNonJsonLine !== undefined && !this.answered)
      parts.push(`stdout: ${printableLine(data.firstNonJsonLine)}`);
    return parts.join("; ");
  }
}

const FIXES: Record<LaunchFailure, (data: LaunchReportData) => string> = {
  missing_binary: () => "Install the program, pass its full path as `command`, or set `PATH` in `env`.",
  not_executable: () => "Check that the file is executable and built for this system.",
  bad_cwd: () => "Check that the folder `cwd` exists and is accessible.",
  missing_env: ({ stderr }) =>
    `Pass ${missingVariable(stderr.join("\n")) ?? "the variable"} in \`env\`; a server inherits only a few variables.`,
  missing_module: () => "Install the server's dependencies, and check the path in `args`.",
  syntax_error: () => "Fix the syntax error in the server's code, or use the version of the interpreter that it needs.",
  stdout_noise: () => "Start the server in its stdio mode, and let it log to stderr.",
  exited: () => "Run the command in a terminal to see why it exits; `data.stderr` has its last lines.",
  killed: () => "Check the server's memory use, and which program sends it signals; `data.stderr` has its last lines.",
  stdin_closed: () => "Keep reading from the server's stdin as long as it serves.",
  stdout_closed: () => "Keep the server's stdout open as long as it serves.",
  no_answer: () => "Check that the command is an MCP server in stdio mode, or raise `timeouts.connectMs`.",
};

/** The environment variable that stderr reports as missing, if it names one. */
function missingVariable(stderr: string): string | undefined {
  const name = "\\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\\b";
  const lack = "(?:missing|required|not set|must (?:be )?(?:set|provide)|unset|undefined|is needed)";
  const match = new RegExp(`${lack}[^\\n]{0,80}?${name}|${name}[^\\n]{0,80}?${lack}`).exec(stderr);
  return match?.[1] ?? match?.[2] ?? /KeyError: '([A-Z][A-Z0-9_]+)'/.exec(stderr)?.[1];
}

function badFolder(cwd: string | undefined): boolean {
  if (cwd === undefined) return false;
  try {
    return !builtin("node:fs").statSync(cwd).isDirectory();
  } catch {
    return true;
  }
}

/** Maximum number of bytes of a child's stderr that are stored for error messages: enough for several stack traces. */
const MAX_RING_BYTES = 64 * 1024;

/** The end of a child's stderr. All of stderr is read, so that the child never blocks on a full pipe. */
class StderrRing {
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  /** Total number of bytes received. */
  total = 0;

  push(chunk: Uint8Array): void {
    this.total += chunk.length;
    // A copy, because the chunk may be a view on a much larger buffer.
    this.#chunks.push(chunk.slice(-MAX_RING_BYTES));
    this.#bytes += Math.min(chunk.length, MAX_RING_BYTES);
    while (this.#bytes - (this.#chunks[0]?.length ?? 0) >= MAX_RING_BYTES) {
      this.#bytes -= this.#chunks.shift()?.length ?? 0;
    }
  }

  /** The last non-blank lines, oldest first. */
  lines(count: number): string[] {
    const text = Buffer.concat(this.#chunks).toString("utf8");
    const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
    return lines.slice(-count);
  }
}

/**
 * Finds `command` like the system does. Returns its path, or the list of searched folders. For error messages only:
 * `spawn` does its own search.
 */
function findProgram(
  command: string,
  env: Readonly<Record<string, string>>,
  cwd: string = process.cwd(),
): { path: string } | { searched: string[] } {
  const { delimiter, isAbsolute, join, resolve } = builtin("node:path");
  const names = withExtensions(command, env);
  const isPath = isAbsolute(command) || /[/\\]/.test(command);
  const folders = isPath ? [""] : (variable(env, "PATH") ?? "").split(delimiter).filter((folder) => folder !== "");
  const candidates = folders.flatMap((folder) =>
    names.map((name) => (isPath ? resolve(cwd, name) : join(folder, name))),
  );
  const path = candidates.find(isFile);
  return path === undefined ? { searched: isPath ? candidates : folders } : { path };
}

function withExtensions(command: string, env: Readonly<Record<string, string>>): string[] {
  if (process.platform !== "win32") return [command];
  const extensions = (variable(env, "PATHEXT") ?? ".COM;.EXE;.BAT;.CMD").split(";");
  return [command, ...extensions.map((extension) => command + extension)];
}

function variable(env: Readonly<Record<string, string>>, name: string): string | undefined {
  if (process.platform !== "win32") return env[name];
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}

function isFile(path: string): boolean {
  try {
    return builtin("node:fs").statSync(path).isFile();
  } catch {
    return false;
  }
}
