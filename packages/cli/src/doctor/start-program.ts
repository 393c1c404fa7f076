import { statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { McpError } from "@parley/mcp";
import type { HostServer } from "@parley/mcp/host";
import { type LaunchFailure, type LaunchReportData, stdioTransport } from "@parley/mcp/node";
import type { Transport } from "@parley/mcp/transport";
import type { Invocation } from "../commands/command.js";
import { EXIT } from "../terminal/exit-code.js";
import type { Io } from "../terminal/io.js";
import { BrokenLink, type Checkup, type Finding } from "./checkup.js";
import { connectionFinding, type ExaminedConnection, openExamined } from "./examined-connection.js";

/** A program that serves on stdio. */
type ProgramEntry = HostServer & { readonly command: string };

/** Reasons that the handshake is blamed for: the program runs. */
const RUNS: ReadonlySet<string> = new Set(["no_answer", "stdin_closed", "stdout_closed"]);

/** Starts a program, step by step, and connects to it. Undefined where a link is broken. */
export async function startProgram(
  entry: ProgramEntry,
  checkup: Checkup,
  invocation: Invocation,
): Promise<ExaminedConnection | undefined> {
  const { io } = invocation.terminal;
  const folder = entry.cwd ?? io.cwd;
  await checkup.step("folder", () => checkFolder(folder));
  await checkup.step("command", () => findCommand(entry, folder, io));
  const noise = new NoiseListener();
  let outcome: { readonly connection: ExaminedConnection } | { readonly error: unknown } | undefined;
  await checkup.step("start", async () => {
    outcome = await connected(entry, noise, checkup, invocation);
    const report = "error" in outcome ? launchReportOf(outcome.error) : undefined;
    if (report === undefined) return "the program runs";
    if (RUNS.has(report.reason) || report.reason === "stdout_noise") return "the program runs";
    throw new BrokenLink(launchFinding(report));
  });
  const answers = outcome !== undefined && "connection" in outcome;
  await checkup.step(
    "stdout",
    () => {
      const report = outcome !== undefined && "error" in outcome ? launchReportOf(outcome.error) : undefined;
      if (report?.reason === "stdout_noise") throw new BrokenLink(launchFinding(report));
      if (noise.count === 0) return "messages only";
      throw noise.found();
    },
    // Other clients may not get so far, but what follows can still be examined.
    answers ? { exit: EXIT.findings, goesOn: true } : {},
  );
  await checkup.step("handshake", () => {
    if (outcome !== undefined && "connection" in outcome) return "the server answered";
    const error = outcome?.error;
    const report = launchReportOf(error);
    throw new BrokenLink(report === undefined ? connectionFinding(error) : launchFinding(report));
  });
  if (outcome === undefined || !("connection" in outcome)) return undefined;
  const lookAgain = async () => {
    if (noise.isKnown || noise.count === 0) return;
    await checkup.step("stdout", () => Promise.reject(noise.found()), { exit: EXIT.findings, goesOn: true });
  };
  return { ...outcome.connection, lookAgain };
}

async function connected(entry: ProgramEntry, noise: NoiseListener, checkup: Checkup, invocation: Invocation) {
  const { command, args, env, cwd, inheritEnv } = entry;
  const makeTransport = () => noise.listen(stdioTransport({ command, args, env, cwd, inheritEnv }));
  try {
    return { connection: await openExamined({ makeTransport }, checkup, invocation) };
  } catch (error) {
    if (checkup.signal.aborted) throw error;
    return { error };
  }
}

/** Counts what a program prints on stdout beside messages. */
class NoiseListener {
  count = 0;
  first = "";
  isKnown = false;

  found(): BrokenLink {
    this.isKnown = true;
    return new BrokenLink({
      code: "stdout_noise",
      cause: `the server prints text on stdout where messages belong: ${JSON.stringify(this.first)}`,
      fix: "Let it log to stderr; this client skips such lines, others lose the connection.",
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

/** The line that was no message, where the transport knows it. */
function printedLine(error: Error): string {
  const { data } = McpError.from(error);
  const line = typeof data === "object" && data !== null && "line" in data ? data.line : undefined;
  return (typeof line === "string" ? line : error.message).slice(0, 200);
}

function checkFolder(folder: string): string {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return folder;
  throw new BrokenLink({
    code: "bad_cwd",
    cause: `the folder ${folder} does not exist, or is a file`,
    fix: "Correct --cwd, or `cwd` in the configuration.",
  });
}

/** Where the system will find the program; it does its own search, so a doubt is left to the start. */
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
  throw new BrokenLink({
    code: "missing_binary",
    cause: `there is no program ${JSON.stringify(command)} ${where}`,
    fix,
  });
}

/** Lines of a server's stderr that are shown. */
const SHOWN_LINES = 10;

/** The report of a program that an error carries; undefined for other errors. */
function launchReportOf(error: unknown): LaunchReportData | undefined {
  if (!McpError.is(error) || typeof error.data !== "object" || error.data === null) return undefined;
  // Only errors about a process have both members.
  return "reason" in error.data && "nonJsonLines" in error.data ? (error.data as LaunchReportData) : undefined;
}

/** Explains why a program did not become a server, and what to change in the command. */
function launchFinding(data: LaunchReportData): Finding {
  const { reason } = data;
  // The inner frames of a stack say nothing about the server.
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
  if (signal !== undefined) return `${quoted(command)} was ended by ${signal}`;
  return exitCode === undefined ? `${quoted(command)} ended` : `${quoted(command)} exited with code ${exitCode}`;
}

/** The line that explains the most: the first that speaks of an error, else the last. */
function lastWords({ stderr }: LaunchReportData): string {
  const line =
    stderr.find((one) => /error|missing|required|must be|not set|cannot/i.test(one) && !/^\s+at /.test(one)) ??
    stderr.at(-1);
  return line === undefined ? ", without a word on stderr" : `: ${line.trim().slice(0, 300)}`;
}

function noise({ firstNonJsonLine = "" }: LaunchReportData): string {
  return quoted(firstNonJsonLine.slice(0, 120));
}

const CAUSES: Record<LaunchFailure, (data: LaunchReportData) => string> = {
  missing_binary: ({ command }) => `there is no program ${quoted(command)}`,
  not_executable: ({ command, resolvedPath = command }) => `${resolvedPath} cannot be run`,
  bad_cwd: ({ cwd = "" }) => `the folder ${cwd} does not exist or cannot be entered`,
  missing_env: (data) => `${ending(data)} because a variable is missing${lastWords(data)}`,
  missing_module: (data) => `${ending(data)} because a file or package is missing${lastWords(data)}`,
  syntax_error: (data) => `${ending(data)} because its code has a syntax error${lastWords(data)}`,
  stdout_noise: (data) => `${quoted(data.command)} prints text on stdout where messages belong: ${noise(data)}`,
  exited: (data) => `${ending(data)} before it answered${lastWords(data)}`,
  killed: (data) => `${ending(data)} before it answered${lastWords(data)}`,
  stdin_closed: ({ command }) => `${quoted(command)} runs, but closed its stdin`,
  stdout_closed: ({ command }) => `${quoted(command)} runs, but closed its stdout`,
  no_answer: ({ command }) => `${quoted(command)} runs, but answers nothing`,
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
    "Correct the line that stderr shows, or use the version of the interpreter that it was written for.",
  stdout_noise: () => "Start it in its stdio mode, and let it write everything but messages to stderr.",
  exited: () => "Run the same command in a terminal to see why it ends; a server runs until its stdin is closed.",
  killed: () => "Find out who sends the signal: often the memory limit of the system.",
  stdin_closed: () => "Let the server read its stdin as long as it runs.",
  stdout_closed: () => "Let the server keep its stdout open as long as it runs.",
  no_answer: () => "Check that it is an MCP server in its stdio mode; one that starts slowly needs --timeout 2m.",
};

/** The variable that stderr names: capitals with an underscore, as such names are written. */
function variableIn(stderr: readonly string[]): string | undefined {
  return /\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/.exec(stderr.filter((line) => !/ERR_/.test(line)).join("\n"))?.[0];
}
