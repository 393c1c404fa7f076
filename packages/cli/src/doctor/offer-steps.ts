import { type Client, McpError, Server } from "@parley/mcp";
import type { Tool } from "@parley/mcp/protocol";
import { EXIT } from "../terminal/exit-code.js";
import { CheckFailure, type Checkup, NotApplicable, type StepContext } from "./checkup.js";
import type { ExaminedConnection } from "./examined-connection.js";

/** Maximum number of entries read per list. A hostile list may never end. */
const MAX_ENTRIES = 10_000;
/** Maximum number of problems named in one finding. Further problems are replaced by "…". */
const MAX_NAMED = 5;

/** Reads every list that the server declares, and checks the schemas of its tools. */
export async function checkOffers(connection: ExaminedConnection | undefined, checkup: Checkup): Promise<void> {
  const tools: Tool[] = [];
  const rules = { exit: EXIT.findings, continues: true };
  const list = (name: string, offers: (client: Client) => boolean, read: ReadList) =>
    checkup.step(
      name,
      async (context) => {
        if (connection === undefined) throw new NotApplicable("not reached");
        if (!offers(connection.client)) throw new NotApplicable("not offered");
        return readWhole(name, connection, context, read);
      },
      rules,
    );
  await list(
    "tools",
    ({ serverCapabilities }) => serverCapabilities.tools !== undefined,
    async (client, { signal }) => {
      for await (const tool of client.tools({ signal })) if (tools.push(tool) >= MAX_ENTRIES) break;
      return counted(tools.length, "tool");
    },
  );
  await list("resources", ({ serverCapabilities }) => serverCapabilities.resources !== undefined, readResources);
  await list(
    "prompts",
    ({ serverCapabilities }) => serverCapabilities.prompts !== undefined,
    async (client, { signal }) => counted(await count(client.prompts({ signal })), "prompt"),
  );
  await checkup.step("schemas", (context) => checkTools(tools, context), rules);
}

type ReadList = (client: Client, context: StepContext) => Promise<string>;

/**
 * Reads a list. Fails if the client warned about entries: the client omits invalid entries from the list, and warns
 * about each.
 */
async function readWhole(
  name: string,
  connection: ExaminedConnection,
  context: StepContext,
  read: ReadList,
): Promise<string> {
  connection.drainWarnings();
  const detail = await read(connection.client, context).catch((error: unknown) => {
    throw context.signal.aborted ? error : listFailure(name, error);
  });
  const flaws = connection.drainWarnings();
  if (flaws.length === 0) return detail;
  throw new CheckFailure({
    code: "invalid_list",
    cause: `the list of ${name} has ${counted(flaws.length, "problem")}: ${named(flaws)}`,
    fix: "Correct these entries on the server. Clients leave them out, and some refuse the whole list.",
  });
}

/** Kinds of errors that mean that the connection has ended. */
const LOST: ReadonlySet<string> = new Set(["connection_closed", "connect_failed", "session_lost", "transport_error"]);

function listFailure(name: string, error: unknown): CheckFailure {
  if (!McpError.is(error))
    return new CheckFailure({
      code: "list_failed",
      cause: String(error),
      fix: "Run the command again with --debug, and report its output.",
    });
  if (LOST.has(error.kind)) {
    return new CheckFailure(
      {
        code: "connection_lost",
        cause: `the connection ended while ${name} were listed: ${error.message}`,
        fix: "Check the server's log: it probably crashed during this request.",
      },
      EXIT.unreachable,
    );
  }
  if (error.kind === "timeout") {
    return new CheckFailure(
      {
        code: "no_answer",
        cause: `the server did not answer ${name}/list: ${error.message}`,
        fix: "Check the server's log. If the list takes long, allow more time: --timeout 2m.",
      },
      EXIT.unreachable,
    );
  }
  const advice =
    error.kind === "method_not_found"
      ? `Implement ${name}/list on the server, or remove \`${name}\` from its capabilities.`
      : "Check the server's log: it declares this list, so it must answer.";
  return new CheckFailure({
    code: "list_failed",
    cause: `the list of ${name} could not be read: ${error.message}`,
    fix: advice,
  });
}

async function readResources(client: Client, { signal, warn }: StepContext): Promise<string> {
  const resources = await count(client.resources({ signal }));
  try {
    const templates = await count(client.resourceTemplates({ signal }));
    return `${counted(resources, "resource")}, ${counted(templates, "template")}`;
  } catch (error) {
    if (!McpError.is(error) || error.kind !== "method_not_found") throw error;
    warn(
      "no_templates",
      "the server offers resources, but does not answer resources/templates/list",
      "Let the server answer with an empty list.",
    );
    return counted(resources, "resource");
  }
}

async function count(entries: AsyncIterable<unknown>): Promise<number> {
  let number = 0;
  for await (const _entry of entries) if (++number >= MAX_ENTRIES) break;
  return number;
}

function checkTools(tools: readonly Tool[], { warn }: StepContext): string {
  if (tools.length === 0) throw new NotApplicable("no tools");
  const silent = tools.filter(({ description = "" }) => description.trim() === "").map(({ name }) => name);
  if (silent.length > 0) {
    warn(
      "no_description",
      `${counted(silent.length, "tool")} without a description: ${named(silent)}`,
      "Describe what the tool does and when to use it: models choose tools by their descriptions.",
    );
  }
  const problems = tools.flatMap((tool) => schemaProblem(tool) ?? []);
  if (problems.length === 0) return `${counted(tools.length, "tool")} with usable schemas`;
  throw new CheckFailure({
    code: "invalid_schema",
    cause: `${counted(problems.length, "tool")} cannot be used as described: ${named(problems.map(({ cause }) => cause))}`,
    fix: problems[0]?.fix ?? "Correct the schemas.",
  });
}

/**
 * Finds the first problem in the schemas of a tool, by the rules that the library applies when a server registers a
 * tool.
 */
function schemaProblem({
  name,
  inputSchema,
  outputSchema,
}: Tool): { readonly cause: string; readonly fix: string } | undefined {
  for (const [part, schema] of [["input", inputSchema] as const, ["output", outputSchema] as const]) {
    if (schema === undefined) continue;
    try {
      new Server({ name: "t", version: "1" }).tool("t", { description: "t", [part]: schema }, () => "");
    } catch (error) {
      if (!McpError.is(error)) throw error;
      const [, why = error.message] = /^In the schema of tool "t" \w+: (.*)$/s.exec(error.message) ?? [];
      return {
        cause: `${part} of ${JSON.stringify(name)}: ${why.replace(' of tool "t"', "").replace(/\.$/, "")}`,
        fix: error.fix,
      };
    }
  }
  return undefined;
}

function counted(number: number, noun: string): string {
  return `${number >= MAX_ENTRIES ? "at least " : ""}${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Joins only the first `MAX_NAMED` texts, so that a server cannot fill the screen. */
function named(texts: readonly string[]): string {
  const shown = texts.slice(0, MAX_NAMED).map((text) => text.slice(0, 160));
  return `${shown.join("; ")}${texts.length > MAX_NAMED ? "; …" : ""}`;
}
