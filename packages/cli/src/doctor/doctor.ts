import { McpError } from "@parley/mcp";
import type { HostServer } from "@parley/mcp/host";
import { shownRevision } from "@parley/mcp/protocol";
import type { CommandRun, Invocation } from "../commands/command.js";
import { projectBuild } from "../target/project-build.js";
import { resolveTarget, type ServerTarget } from "../target/target.js";
import { EXIT } from "../terminal/exit-code.js";
import type { Style } from "../terminal/style.js";
import type { Terminal } from "../terminal/terminal.js";
import { joinText, show, showBlock, TerminalText } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { CheckFailure, Checkup, type Finding, type Step, type StepStatus } from "./checkup.js";
import { connectionFinding, type ExaminedConnection, openExamined } from "./examined-connection.js";

/**
 * Default time limit for the whole checkup: 30 s, enough even if a package runner such as npx must install the program
 * first.
 */
const DEFAULT_MS = 30_000;

/** `parley doctor`: checks the connection to a server step by step, and shows the first failure. */
export const doctor: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const [target, [extra]] = await resolveTarget(invocation);
  if (extra !== undefined) throw new UsageError(`unexpected argument "${extra}"`, "Name one server.");
  const totalMs = options.duration("timeout") ?? DEFAULT_MS;
  const redact = queryRedactor(target);
  const report = new DoctorReport(terminal, redact(target.name));
  using checkup = new Checkup(totalMs, terminal.io.signal, { onStep: (step) => report.step(step), redact });
  const connection = await reach(target, checkup, invocation);
  try {
    await checkup.step("era", () => eraOf(connection));
    const { checkOffers } = await import("./offer-steps.js");
    await checkOffers(connection, checkup);
    await connection?.recheck?.();
    const { serverInfo, protocolVersion } = connection?.client ?? {};
    const server = { name: serverInfo?.name, version: serverInfo?.version, revision: protocolVersion };
    report.end(checkup, server);
  } finally {
    await connection?.client.close();
  }
  return checkup.exit;
};

/** Hides the values in the query of a URL, which are often keys. */
function queryRedactor(target: ServerTarget): (text: string) => string {
  const { search } = target.kind === "url" ? new URL(target.entry.url) : { search: "" };
  if (search.length < 2) return (text) => text;
  const shown = search.replace(/=[^&]+/g, "=…");
  return (text) => text.replaceAll(search, shown);
}

function eraOf(connection: ExaminedConnection | undefined): string {
  if (connection === undefined) throw new Error("not connected");
  const { client } = connection;
  // Shows the negotiated revision. The revision of the last request may differ, because the client sends a slowly
  // starting program both `server/discover` and `initialize`.
  const { protocolVersion, era } = shownRevision(client.protocolVersion);
  const { name = "unnamed server", version = "" } = client.serverInfo ?? {};
  return `${protocolVersion}, ${era === "stateful" ? "with a handshake" : "without sessions"}; ${name} ${version}`.trim();
}

/** Runs the steps up to an open connection, depending on the kind of target. */
async function reach(
  target: ServerTarget,
  checkup: Checkup,
  invocation: Invocation,
): Promise<ExaminedConnection | undefined> {
  await checkBuild(target, checkup, invocation);
  if (target.kind === "module") return reachModule(target.path, checkup, invocation);
  if (target.kind === "command") {
    const { startProgram } = await import("./start-program.js");
    return startProgram(target, checkup, invocation);
  }
  return reachUrl(target.entry, target.name, checkup, invocation);
}

/** Warns about a build that is older than its sources. A missing build fails a later step. */
async function checkBuild(target: ServerTarget, checkup: Checkup, { terminal }: Invocation): Promise<void> {
  const build = projectBuild(target, terminal.io.cwd);
  if (build === undefined || build.state === "missing") return;
  await checkup.step("build", ({ warn }) => {
    if (build.state === "stale") warn("stale_build", build.cause, build.fix);
    return build.cause;
  });
}

async function reachModule(
  path: string,
  checkup: Checkup,
  invocation: Invocation,
): Promise<ExaminedConnection | undefined> {
  const { loadServerModule } = await import("../target/load-module.js");
  let server: Awaited<ReturnType<typeof loadServerModule>> | undefined;
  await checkup.step("module", async () => {
    server = await loadServerModule(path).catch((error: unknown) => {
      throw new CheckFailure(moduleFinding(error));
    });
    return path;
  });
  return handshake(checkup, async () => {
    if (server === undefined) throw new Error("the module has no server");
    return openExamined(server, checkup, invocation);
  });
}

function moduleFinding(error: unknown) {
  if (error instanceof UsageError) return { code: "no_server_exported", cause: error.message, fix: error.fix };
  const cause = error instanceof Error ? error.message : String(error);
  const fix = McpError.is(error) ? error.fix : "Correct the module. Run it with Node to see the whole error.";
  return { code: "module_failed", cause, fix };
}

async function reachUrl(
  entry: HostServer & { readonly url: string },
  name: string,
  checkup: Checkup,
  invocation: Invocation,
): Promise<ExaminedConnection | undefined> {
  const { io } = invocation.terminal;
  const headers = Object.fromEntries(
    Object.entries(entry.headers ?? {}).map(([one, value]) => [one.toLowerCase(), value]),
  );
  const url = new URL(entry.url);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return handshake(checkup, () => openExamined(entry.url, checkup, invocation));
  }
  // Loaded only for HTTP, because other targets need none of these steps.
  const [{ checkNetwork }, { checkHttp }, { checkBrowserRules }, { checkAuth }] = await Promise.all([
    import("./network-steps.js"),
    import("./http-steps.js"),
    import("./browser-steps.js"),
    import("./auth-steps.js"),
  ]);
  await checkNetwork(url, checkup, io.env["NODE_TLS_REJECT_UNAUTHORIZED"] !== "0");
  const found = await checkHttp(entry.url, headers, checkup);
  const known = found ?? { answer: NO_ANSWER, url: entry.url, isLegacySse: false };
  await checkBrowserRules(known, headers, checkup, invocation.options.text("origin"));
  const opened = await checkAuth({ found: known, headers, name, checkup, invocation });
  const where = known.isLegacySse ? { url: entry.url, transport: "sse" as const } : entry.url;
  return handshake(checkup, async () => opened ?? openExamined(where, checkup, invocation, { headers }));
}

/** Placeholder for the answer if the HTTP step failed. The steps that would read the answer are then skipped. */
const NO_ANSWER = { status: 0, headers: {}, body: "", type: "" };

async function handshake(
  checkup: Checkup,
  open: () => Promise<ExaminedConnection>,
): Promise<ExaminedConnection | undefined> {
  let connection: ExaminedConnection | undefined;
  await checkup.step("handshake", async ({ signal }) => {
    try {
      connection = await open();
    } catch (error) {
      if (signal.aborted) throw error;
      const isLogin = McpError.is(error) && (error.kind === "auth_required" || error.kind === "authorization_failed");
      throw new CheckFailure(connectionFinding(error), isLogin ? EXIT.unauthorized : undefined);
    }
    return "the server answered";
  });
  return connection;
}

/** The name and version that the server declares, and the negotiated revision. */
interface ExaminedServer {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  readonly revision?: string | undefined;
}

/**
 * Maximum lengths of printed texts, in characters. Longer texts are cut, because servers may send texts of any length.
 */
const MAX_TEXT_LENGTH = 600;
const MAX_DETAIL_LENGTH = 200;

/**
 * Prints a checkup. People see each step when it is done, and the findings at the end. Programs get one JSON document.
 */
class DoctorReport {
  readonly #terminal: Terminal;
  readonly #target: string;

  constructor(terminal: Terminal, target: string) {
    this.#terminal = terminal;
    this.#target = target;
    if (terminal.json) return;
    terminal.print(terminal.style.bold(target.slice(0, MAX_DETAIL_LENGTH)));
    terminal.print();
  }

  /** Prints one line for a step. */
  step(step: Step): void {
    if (!this.#terminal.json) this.#terminal.printTable([stepRow(step, this.#terminal.style)]);
  }

  /** Prints the first failure with its cause and fix, then the other findings. */
  end({ steps, broken }: Checkup, server: ExaminedServer): void {
    const terminal = this.#terminal;
    const { style } = terminal;
    if (terminal.json) {
      const first = broken === undefined ? {} : { broken: { step: broken.step, ...broken.finding } };
      terminal.printJson({ target: this.#target, ok: broken === undefined, server, steps, ...first });
      return;
    }
    if (broken !== undefined) {
      terminal.print();
      terminal.print(show`${style.red("failed at ")}${style.bold(broken.step)} (${broken.finding.code})`);
      printFinding(terminal, broken.finding);
    }
    for (const { step, finding, mark } of others(steps, broken?.finding)) {
      terminal.print();
      terminal.print(show`${mark(style)}${step} (${finding.code})`);
      printFinding(terminal, finding);
    }
    if (broken !== undefined) return;
    terminal.print();
    terminal.print(style.green("The server works."));
  }
}

const MARKS: Record<StepStatus, (style: Style) => TerminalText> = {
  ok: (style) => style.green("ok"),
  warning: (style) => style.yellow("warning"),
  failed: (style) => style.red("failed"),
  skipped: (style) => style.dim("skipped"),
};

/**
 * The widths of the longest status and the longest step name. Rows are printed one by one, so their columns cannot be
 * measured together.
 */
const MARK_WIDTH = "skipped".length;
const NAME_WIDTH = "handshake".length;

function stepRow({ step, status, detail, ms }: Step, style: Style): TerminalText[] {
  const name =
    status === "failed" ? style.bold(style.red(step)) : status === "skipped" ? style.dim(step) : show`${step}`;
  const took = ms === undefined || ms < SLOW_MS ? "" : ` (${ms} ms)`;
  const text = `${detail.slice(0, MAX_DETAIL_LENGTH)}${took}`;
  const mark = padded(MARKS[status](style), MARK_WIDTH);
  return [show`  ${mark}`, padded(name, NAME_WIDTH), status === "skipped" ? style.dim(text) : show`${text}`];
}

function padded(shown: TerminalText, width: number): TerminalText {
  return show`${shown}${" ".repeat(Math.max(0, width - shown.plain.length))}`;
}

/** Minimum duration of a step whose time is printed. */
const SLOW_MS = 100;

interface OtherFinding {
  readonly step: string;
  readonly finding: Finding;
  mark(style: Style): TerminalText;
}

/** Every finding except the first failure. */
function others(steps: readonly Step[], first: Finding | undefined): OtherFinding[] {
  return steps.flatMap(({ step, status, findings }) =>
    findings
      .filter((finding) => finding !== first)
      .map((finding) => {
        const isBroken = status === "failed" && finding === findings.at(-1);
        const mark = (style: Style) => (isBroken ? style.red("also failed at ") : style.yellow("warning at "));
        return { step, finding, mark };
      }),
  );
}

function printFinding(terminal: Terminal, { cause, fix, stderr = [], tried = [] }: Finding): void {
  const { dim } = terminal.style;
  const edge = terminal.io.stdout.isTTY === true ? Math.max(MIN_WRAP_WIDTH, terminal.width) : Number.POSITIVE_INFINITY;
  terminal.print(joinText([dim("cause: "), indented(cause, edge)]));
  terminal.print(joinText([dim("fix:   "), indented(fix, edge)]));
  for (const [title, lines] of [["stderr:", stderr] as const, ["tried:", tried] as const]) {
    if (lines.length > 0) terminal.print(dim(title));
    for (const line of lines) terminal.print(show`       ${line.slice(0, MAX_DETAIL_LENGTH)}`);
  }
}

/** Minimum width at which this program wraps lines. Narrower terminals wrap lines themselves. */
const MIN_WRAP_WIDTH = 40;
const INDENT = "\n       ";

/**
 * Wraps lines at `edge`. Indents every line after the first, so that no line of the text looks like output of this
 * program.
 */
function indented(text: string, edge: number): TerminalText {
  const { text: inert } = showBlock(text.slice(0, MAX_TEXT_LENGTH));
  const lines = inert.split("\n").flatMap((line) => wrapped(line, edge - INDENT.length));
  return new TerminalText(lines.join(INDENT));
}

function wrapped(line: string, width: number): string[] {
  const lines: string[] = [];
  let current = "";
  for (const word of line.split(" ")) {
    if (current !== "" && current.length + 1 + word.length > width) {
      lines.push(current);
      current = word;
    } else current = current === "" ? word : `${current} ${word}`;
  }
  return [...lines, current];
}
