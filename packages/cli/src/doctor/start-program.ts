import { statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { McpError } from "@parley/mcp";
import { type LaunchFailure, type LaunchReportData, stdioTransport } from "@parley/mcp/node";
import type { Transport } from "@parley/mcp/transport";
import type { Invocation } from "../commands/command.js";
import { projectBuild } from "../target/project-build.js";
import type { ServerTarget } from "../target/target.js";
import { EXIT } from "../terminal/exit-code.js";
import type { Io } from "../terminal/io.js";
import { CheckFailure, type Checkup, type Finding } from "./checkup.js";
import { connectionFinding, type ExaminedConnection, openExamined } from "./examined-connection.js";

/** A server that is started as a program and speaks on stdio. */
type ProgramTarget = ServerTarget & { readonly kind: "command" };
type ProgramEntry = ProgramTarget["entry"];

/** Reasons that the step `handshake` reports instead of `start`, because the program itself runs. */
const HANDSHAKE_REASONS: ReadonlySet<string> = new Set(["no_answer", "stdin_closed", "stdout_closed"]);

/** Starts a program and connects to it, in several steps. Returns undefined if no connection was opened. */
export async function startProgram(
  target: ProgramTarget,
  checkup: Checkup,
  invocation: Invocation,
): Promise<ExaminedConnection | undefined> {
  const { entry } = target;
  const { io } = invocation.terminal;
  const folder = entry.cwd ?? io.cwd;
  await checkup.step("folder", () => checkFolder(folder));
  await checkup.step("command", () => findCommand(entry, folder, io));
  const noise = new NoiseListener();
  let outcome: { readonly connection: ExaminedConnection } | { readonly error: unknown } | undefined;
  await checkup.step("start", async () => {
    outcome = await tryConnect(entry, noise, checkup, invocation);
    const report = "error" in outcome ? launchReportOf(outcome.error) : undefined;
    if (report === undefined) return "the program runs";
    if (HANDSHAKE_REASONS.has(report.reason) || report.reason === "stdout_noise") return "the program runs";
    const finding = launchFinding(report);
    const build = report.reason === "missing_module" ? projectBuild(target, io.cwd) : undefined;
    throw new CheckFailure(build?.state === "missing" ? { ...finding, fix: build.fix } : finding);
  });
  const answers = outcome !== undefined && "connection" in outcome;
  await checkup.step(
    "stdout",
    () => {
      const report = outcome !== undefined && "error" in outcome ? launchReportOf(outcome.error) : undefined;
      if (report?.reason === "stdout_noise") throw new CheckFailure(launchFinding(report));
      if (noise.count === 0) return "messages only";
      throw noise.failure();
    },
    // Other clients may give up because of the printed text. This client skips it, so the later steps can still be
    // checked.
    answers ? { exit: EXIT.findings, continues: true } : {},
  );
  await checkup.step("handshake", () => {
    if (outcome !== undefined && "connection" in outcome) return "the server answered";
    const error = outcome?.error;
    const report = launchReportOf(error);
    throw new CheckFailure(report === undefined ? connectionFinding(error) : launchFinding(report));
  });
  if (outcome === undefined || !("connection" in outcome)) return undefined;
  const recheck = async () => {
    if (noise.isReported || noise.count === 0) return;
    await checkup.step("stdout", () => Promise.reject(noise.failure()), { exit: EXIT.findings, continues: true });
  };
  return { ...outcome.connection, recheck };
}

async function tryConnect(entry: ProgramEntry, noise: NoiseListener, checkup: Checkup, invocation: Invocation) {
  const { command, args, env, cwd, inheritEnv } = entry;
  const makeTransport = () => noise.listen(stdioTransport({ command, args, env, cwd, inheritEnv }));
  try {
    return { connection: await openExamined({ makeTransport }, checkup, invocation) };
  } catch (error) {
    if (checkup.signal.aborted) throw error;
    return { error };
  }
}

/** Counts the lines on stdout that are not messages. */
class NoiseListener {
  count = 0;
  first = "";
  isReported = false;

  failure(): CheckFailure {
    this.isReported = true;
    return new CheckFailure({
      code: "stdout_noise",
      cause: `the server prints text on stdout, which is reserved for messages: ${JSON.stringify(this.first)}`,
      fix: "Let the server log to stderr. This client skips such lines, but others lose the connection.",
    });
  }

  listen(inner: Transport): Transport {
    return {
      kind: inner.kind,
      target: inner.target,
      open: (receiver) =>
        inner.open({
          request: (message, about) => receiver.request(message, about),
          notification: (message, about) => receiver.notification(message, about),
          closed: (reason) => receiver.closed(reason),
          fault: (error) => {
            if (this.count++ === 0) this.first = printedLine(error);
            receiver.fault(error);
          },
        }),
      request: (request) => inner.request(request),
      notify: (notification) => inner.notify(notification),
      abandon: (id, reason) => inner.abandon(id, reason),
      explain: (cause) => inner.explain?.(cause) ?? (cause instanceof Error ? cause : new Error(String(cause))),
      close: () => inner.close(),
    };
  }
}

/** The line that is not a message, or the text of the error if the transport does not report the line. */
function printedLine(error: Error): string {
  const { data } = McpError.from(error);
  const line = typeof data === "object" && data !== null && "line" in data ? data.line : undefined;
  return (typeof line === "string" ? line : error.message).slice(0, 200);
}

function checkFolder(folder: string): string {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return folder;
  throw new CheckFailure({
    code: "bad_cwd",
    cause: `the folder ${folder} does not exist, or is a file`,
    fix: "Correct --cwd, or `cwd` in the configuration.",
  });
}

/** Finds the file of the program. Does not check that the file can be run, because the step `start` does. */
function findCommand({ command, env }: ProgramEntry, folder: string, io: Io): string {
  const isPath = isAbsolute(command) || /[/\\]/.test(command);
  const path = env?.["PATH"] ?? io.env["PATH"] ?? "";
  const folders = path.split(delimiter).filter((one) => one !== "");
  const extensions = io.platform === "win32" ? ["", ".com", ".exe", ".bat", ".cmd"] : [""];
  const places = isPath ? [resolve(folder, command)] : folders.map((one) => join(one, command));
  const candidates = places.flatMap((place) => extensions.map((extension) => `${place}${extension}`));
  const found = candidates.find((one) => statSync(one, { throwIfNoEntry: false })?.isFile() === true);
  if (found !== undefined) return found;
  const where = isPath ? `at ${places[0]}` : `in the ${folders.length} folders of PATH`;
  const { fix } = launchFinding({ reason: "missing_binary", command, stderr: [], nonJsonLines: 0 });
  throw new CheckFailure({
    code: "missing_binary",
    cause: `the program ${JSON.stringify(command)} was not found ${where}`,
    fix,
  });
}

/** Maximum number of stderr lines shown. If there are more, only the last lines are shown. */
const SHOWN_LINES = 10;

/** Returns the launch report in the data of an error. Undefined for other errors. */
function launchReportOf(error: unknown): LaunchReportData | undefined {
  if (!McpError.is(error) || typeof error.data !== "object" || error.data === null) return undefined;
  // Safe: only launch reports have both members.
  return "reason" in error.data && "nonJsonLines" in error.data ? (error.data as LaunchReportData) : undefined;
}

/** Describes why a program could not be used as a server, and what to change. */
function launchFinding(data: LaunchReportData): Finding {
  const { reason } = data;
  // Omits Node's internal stack frames, which contain nothing about the server.
  const lines = data.stderr.filter((line) => !/^\s+at .*\bnode:internal/.test(line)).slice(-SHOWN_LINES);
  return {
    code: reason,
    cause: CAUSES[reason](data),
    fix: FIXES[reason](data),
    ...(lines.length === 0 ? {} : { stderr: lines }),
  };
}

const quoted = (text: string) => JSON.stringify(text);

function ending({ command, exitCode, signal }: LaunchReportData): string {
  if (signal !== undefined) return `${quoted(command)} was killed by ${signal}`;
  return exitCode === undefined ? `${quoted(command)} ended` : `${quoted(command)} exited with code ${exitCode}`;
}

/** The most useful line of stderr: the first line that mentions an error, otherwise the last line. */
function stderrHint({ stderr }: LaunchReportData): string {
  const line =
    stderr.find((one) => /error|missing|required|must be|not set|cannot/i.test(one) && !/^\s+at /.test(one)) ??
    stderr.at(-1);
  return line === undefined ? ", without output on stderr" : `: ${line.trim().slice(0, 300)}`;
}

function noise({ firstNonJsonLine = "" }: LaunchReportData): string {
  return quoted(firstNonJsonLine.slice(0, 120));
}

const CAUSES: Record<LaunchFailure, (data: LaunchReportData) => string> = {
  missing_binary: ({ command }) => `the program ${quoted(command)} was not found`,
  not_executable: ({ command, resolvedPath = command }) => `${resolvedPath} cannot be run`,
  bad_cwd: ({ cwd = "" }) => `the folder ${cwd} does not exist or cannot be entered`,
  missing_env: (data) => `${ending(data)} because an environment variable is missing${stderrHint(data)}`,
  missing_module: (data) => `${ending(data)} because a file or package is missing${stderrHint(data)}`,
  syntax_error: (data) => `${ending(data)} because its code has a syntax error${stderrHint(data)}`,
  stdout_noise: (data) =>
    `${quoted(data.command)} prints text on stdout, which is reserved for messages: ${noise(data)}`,
  exited: (data) => `${ending(data)} before it answered${stderrHint(data)}`,
  killed: (data) => `${ending(data)} before it answered${stderrHint(data)}`,
  stdin_closed: ({ command }) => `${quoted(command)} runs, but closed its stdin`,
  stdout_closed: ({ command }) => `${quoted(command)} runs, but closed its stdout`,
  no_answer: ({ command }) => `${quoted(command)} runs, but does not answer`,
};

const FIXES: Record<LaunchFailure, (data: LaunchReportData) => string> = {
  missing_binary: ({ command }) =>
    /\s/.test(command)
      ? "Write the program and its arguments as separate words, without quotes around all of them."
      : "Install it, write its full path, or add its folder to PATH.",
  not_executable: () => "Make the file executable (chmod +x), and check that it is built for this system.",
  bad_cwd: () => "Correct --cwd, or `cwd` in the configuration.",
  missing_env: ({ stderr }) => {
    const name = variableIn(stderr) ?? "NAME";
    return `Pass it: --env ${name}=…, or in \`env\` of the configuration.`;
  },
  missing_module: () => "Check the path of the script, and install the server's dependencies.",
  syntax_error: () =>
    "Correct the line that stderr shows, or use the interpreter version that the server was written for.",
  stdout_noise: () => "Start the server in its stdio mode, and let it log to stderr.",
  exited: () => "Run the same command in a terminal to see why it exits. A server must run until its stdin is closed.",
  killed: () => "Find out what sends the signal. Often it is the memory limit of the system.",
  stdin_closed: () => "Let the server read its stdin as long as it runs.",
  stdout_closed: () => "Let the server keep its stdout open as long as it runs.",
  no_answer: () =>
    "Check that it is an MCP server in its stdio mode. If it starts slowly, allow more time: --timeout 2m.",
};

/** The environment variable that stderr names. Recognized by its form: capitals with an underscore. */
function variableIn(stderr: readonly string[]): string | undefined {
  return /\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/.exec(stderr.filter((line) => !/ERR_/.test(line)).join("\n"))?.[0];
}
