import type { ChildEnd } from "../../platform/platform.js";
import { type ErrorKind, McpError } from "../../protocol/error.js";
import { builtin } from "../builtin.js";
import { findProgram } from "./find-program.js";
import { StderrRing } from "./stderr-ring.js";

/** Why a server process could not be talked to. */
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
  | "stdout_closed"
  | "no_answer";

/** What an `McpError` about a server process carries as `data`. */
export interface LaunchReportData {
  reason: LaunchFailure;
  command: string;
  /** Where the command was found; absent when it was not. */
  resolvedPath?: string;
  cwd?: string;
  exitCode?: number;
  signal?: string;
  /** The last lines of stderr, oldest first. */
  stderr: string[];
  /** The first line on stdout that was no message, and how many there were. */
  firstNonJsonLine?: string;
  nonJsonLines: number;
}

const STDERR_LINES = 40;
const NOISE_LENGTH = 300;

/** What was seen of one child process, and the error it amounts to. */
export class LaunchReport {
  readonly stderr = new StderrRing();
  /** A first message arrived: from then on an end is a lost connection, before it a failed start. */
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

  /** A line on stdout that was no message. */
  noise(line: string): void {
    this.nonJsonLines++;
    this.#firstNonJson ??= line.slice(0, NOISE_LENGTH);
  }

  ended(end: ChildEnd): void {
    this.#end = end;
  }

  /** The error that everything pending gets. `what` says how the end was noticed. */
  failure(what: "exited" | "stdout_closed" | "no_answer", cause?: unknown): McpError {
    const data = this.#data(what);
    const kind: ErrorKind = this.answered ? "connection_closed" : "connect_failed";
    const said = this.#saying(data);
    return new McpError(kind, said === "" ? this.#story(data) : `${this.#story(data)}; ${said}`, {
      data,
      fix: FIXES[data.reason](data),
      ...((cause ?? this.#end?.error) ? { cause: cause ?? this.#end?.error } : {}),
    });
  }

  #data(what: "exited" | "stdout_closed" | "no_answer"): LaunchReportData {
    const found = findProgram(this.#command, this.#env, this.#cwd);
    const stderr = this.stderr.lines(STDERR_LINES);
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

  #reason(what: "exited" | "stdout_closed" | "no_answer", stderr: string, found: boolean): LaunchFailure {
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

  #story(data: LaunchReportData): string {
    const command = JSON.stringify(data.command);
    switch (data.reason) {
      case "missing_binary":
        return `${command} was not found`;
      case "bad_cwd":
        return `${command} could not start in the folder ${data.cwd ?? "given"}`;
      case "not_executable":
        return `${command} could not be started: ${this.#end?.error?.message}`;
      case "stdout_closed":
        return `${command} closed its stdout but still ran`;
      case "no_answer":
        return `${command} runs but did not answer`;
      case "stdout_noise":
        return `${command} printed text on stdout instead of messages`;
      default:
        return `${command} ended ${data.signal ? `by ${data.signal}` : `with exit code ${data.exitCode}`}`;
    }
  }

  #saying(data: LaunchReportData): string {
    const last = data.stderr.at(-1);
    const telling = data.stderr.findLast((line) => /error|missing|required|must|not /i.test(line)) ?? last;
    const parts: string[] = [];
    if (telling !== undefined) parts.push(`stderr: ${telling.trim().slice(0, NOISE_LENGTH)}`);
    if (data.firstNonJsonLine !== undefined && !this.answered) parts.push(`stdout: ${data.firstNonJsonLine}`);
    return parts.join("; ");
  }
}

const FIXES: Record<LaunchFailure, (data: LaunchReportData) => string> = {
  missing_binary: () => "Install the program, give its full path as `command`, or set `PATH` in `env`.",
  not_executable: () => "Check that the file is executable and made for this system.",
  bad_cwd: () => "Check that the folder `cwd` exists and may be entered.",
  missing_env: ({ stderr }) =>
    `Pass ${missingVariable(stderr.join("\n")) ?? "the variable"} in \`env\`; a server inherits only a short list of names.`,
  missing_module: () => "Install the server's dependencies, and check the path in `args`.",
  syntax_error: () => "The server's own code does not parse; check its file and the version of its interpreter.",
  stdout_noise: () => "Start the server in its stdio mode, and let it log to stderr.",
  exited: () => "Run the command in a terminal to see why it ends; `data.stderr` has its last lines.",
  killed: () => "Something killed the server, often for want of memory; `data.stderr` has its last lines.",
  stdout_closed: () => "A server must keep its stdout open as long as it serves.",
  no_answer: () => "Check that the command is an MCP server in stdio mode, or raise `timeouts.connectMs`.",
};

/** The variable that a message on stderr calls missing, if it names one. */
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
