import { McpError } from "@parley/mcp";
import type { HostServer } from "@parley/mcp/host";
import { shownRevision } from "@parley/mcp/protocol";
import type { CommandRun, Invocation } from "../commands/command.js";
import { type ServerTarget, takeTarget } from "../target/target.js";
import { EXIT } from "../terminal/exit-code.js";
import { UsageError } from "../terminal/usage-error.js";
import { BrokenLink, Checkup } from "./checkup.js";
import { connectionFinding } from "./connection-diagnosis.js";
import { DoctorReport } from "./doctor-report.js";
import { type ExaminedConnection, openExamined } from "./examined-connection.js";

/** How long the whole may take: enough for a program that is installed first. */
const DEFAULT_MS = 30_000;

/** `parley doctor`: walks the way to a server, and shows the first broken link. */
export const doctor: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const [target, [extra]] = await takeTarget(invocation);
  if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many`, "Name one server.");
  const totalMs = options.duration("timeout") ?? DEFAULT_MS;
  const hide = hidingValues(target);
  const report = new DoctorReport(terminal, hide(target.name));
  using checkup = new Checkup(totalMs, terminal.io.signal, { onStep: (step) => report.step(step), hide });
  const connection = await reach(target, checkup, invocation);
  try {
    await checkup.step("era", () => eraOf(connection));
    const { walkOffers } = await import("./offer-steps.js");
    await walkOffers(connection, checkup);
    await connection?.lookAgain?.();
    const { serverInfo, protocolVersion } = connection?.client ?? {};
    const server = { name: serverInfo?.name, version: serverInfo?.version, revision: protocolVersion };
    report.end(checkup, server);
  } finally {
    await connection?.client.close();
  }
  return checkup.exit;
};

/** Hides the values in the query of an address, which are often keys. */
function hidingValues(target: ServerTarget): (text: string) => string {
  const { search } = target.kind === "url" ? new URL(target.entry.url) : { search: "" };
  if (search.length < 2) return (text) => text;
  const shown = search.replace(/=[^&]+/g, "=…");
  return (text) => text.replaceAll(search, shown);
}

function eraOf(connection: ExaminedConnection | undefined): string {
  if (connection === undefined) throw new Error("there is no connection");
  const { client } = connection;
  // The agreed revision, not the last request: a program that starts slowly gets both kinds of handshake.
  const { protocolVersion, era } = shownRevision(client.protocolVersion);
  const { name = "a server without a name", version = "" } = client.serverInfo ?? {};
  return `${protocolVersion}, ${era === "stateful" ? "with a handshake" : "without sessions"}; ${name} ${version}`.trim();
}

/** The steps up to an open connection, by the kind of the target. */
async function reach(
  target: ServerTarget,
  checkup: Checkup,
  invocation: Invocation,
): Promise<ExaminedConnection | undefined> {
  if (target.kind === "module") return reachModule(target.path, checkup, invocation);
  if (target.kind === "command") {
    const { startProgram } = await import("./start-program.js");
    return startProgram(target.entry, checkup, invocation);
  }
  return reachUrl(target.entry, target.name, checkup, invocation);
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
      throw new BrokenLink(moduleFinding(error));
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
  const fix = McpError.is(error) ? error.fix : "Correct the module; run it with Node to see the whole error.";
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
  // Loaded only here: a program that is started needs no TLS.
  const [{ walkNetwork }, { walkHttp }, { walkBrowserRules }, { walkAuth }] = await Promise.all([
    import("./network-steps.js"),
    import("./http-steps.js"),
    import("./browser-steps.js"),
    import("./auth-steps.js"),
  ]);
  await walkNetwork(url, checkup, io.env["NODE_TLS_REJECT_UNAUTHORIZED"] !== "0");
  const found = await walkHttp(entry.url, headers, checkup);
  const known = found ?? { answer: NOTHING, url: entry.url, isLegacySse: false };
  await walkBrowserRules(known, headers, checkup, invocation.options.text("origin"));
  const opened = await walkAuth({ found: known, headers, name, checkup, invocation });
  const where = known.isLegacySse ? { url: entry.url, transport: "sse" as const } : entry.url;
  return handshake(checkup, async () => opened ?? openExamined(where, checkup, invocation, { headers }));
}

/** Stands for an answer in steps that are not reached. */
const NOTHING = { status: 0, headers: {}, body: "", type: "" };

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
      throw new BrokenLink(connectionFinding(error), isLogin ? EXIT.unauthorized : undefined);
    }
    return "the server answered";
  });
  return connection;
}
