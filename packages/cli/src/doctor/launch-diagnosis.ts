import { McpError } from "@parley/mcp";
import type { LaunchFailure, LaunchReportData } from "@parley/mcp/node";
import type { Finding } from "./checkup.js";

/** Lines of a server's stderr that are shown. */
const SHOWN_LINES = 10;

/** What a failed connection to a program says about it; undefined if the failure is another. */
export function launchReportOf(error: unknown): LaunchReportData | undefined {
  if (!McpError.is(error) || typeof error.data !== "object" || error.data === null) return undefined;
  // Only errors about a process have both members.
  return "reason" in error.data && "nonJsonLines" in error.data ? (error.data as LaunchReportData) : undefined;
}

/** What is wrong with a program that did not become a server, and what a person at a shell changes. */
export function launchFinding(data: LaunchReportData): Finding {
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
