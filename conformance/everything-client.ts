import { type Client, connect, McpError } from "@parley/mcp";
import { skillsExtension } from "@parley/mcp/skills";
import { type AuthContext, authOf } from "./client-auth.js";

// The referee names the scenario and the wire by variables, and gives the address as the last argument.
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const wire = process.env["MCP_CONFORMANCE_PROTOCOL_VERSION"] ?? "2026-07-28";
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as AuthContext & {
  toolCalls?: { name: string; arguments: object }[];
};
const url = process.argv.at(-1) ?? "";
// A hung client would be waited for without end.
setTimeout(() => process.exit(3), 25_000).unref();

const options = {
  extensions: [skillsExtension],
  name: "everything-client",
  version: "1.0.0",
  revisions: wire === "2026-07-28" ? (["2026-07-28"] as const) : (["2025-11-25", "2025-06-18", "2025-03-26"] as const),
  roots: [],
  onElicit: () => ({
    action: "accept" as const,
    content: scenario === "sep-2322-client-request-state" ? { confirmed: true } : {},
  }),
  onSample: () => ({ role: "assistant" as const, content: { type: "text" as const, text: "sampled" }, model: "none" }),
};

async function callAll(client: Client, names: readonly string[], args: object = {}): Promise<void> {
  for (const name of names) await client.callTool(name, args);
}

/** What a host does with a skill that its user approves: reads SKILL.md, and the other files only if that is sound. */
async function useSkills(client: Client): Promise<void> {
  const skills = client.extension(skillsExtension);
  for await (const entry of skills.list()) {
    try {
      const skill = await skills.load(entry);
      for await (const file of skill.readAll()) console.log(file.path);
    } catch (error) {
      if (!McpError.is(error) || error.kind !== "invalid_response") throw error;
    }
  }
}

const scenarios: Record<string, (client: Client) => Promise<unknown>> = {
  initialize: (client) => client.ping(),
  tools_call: async (client) => {
    await client.listTools();
    await client.callTool("add_numbers", { a: 5, b: 3 });
  },
  "elicitation-sep1034-client-defaults": (client) => client.callTool("test_client_elicitation_defaults", {}),
  "sse-retry": (client) => client.callTool("test_reconnection", {}),
  "request-metadata": (client) => client.ping(),
  "sep-2322-client-request-state": (client) =>
    callAll(client, ["test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_unrelated", "test_mrtr_no_result_type"]),
  "http-standard-headers": async (client) => {
    for (const { name } of await client.allTools()) await client.callTool(name, {});
    for (const { uri } of await client.allResources()) await client.readResource(uri);
    for (const { name } of await client.allPrompts()) await client.getPrompt(name, {});
  },
  "http-custom-headers": async (client) => {
    await client.allTools();
    for (const call of context.toolCalls ?? []) await client.callTool(call.name, call.arguments);
  },
  "http-invalid-tool-headers": async (client) => {
    for (const { name } of await client.allTools()) await client.callTool(name, { region: "eu" });
  },
  "sep-2640-client-no-prefetch": async (client) => {
    for await (const { uri } of client.extension(skillsExtension).list()) console.log(uri);
  },
  "sep-2640-client-verify-digest": useSkills,
  "sep-2640-client-verify-size": useSkills,
  "sep-2640-client-verify-frontmatter": useSkills,
  "json-schema-ref-no-deref": (client) => client.allTools(),
  "json-schema-2020-12-preservation": async (client) => {
    const tools = await client.allTools();
    const tool = tools.find(({ name }) => name === "json_schema_2020_12_tool");
    await client.callTool("json_schema_echo", { schema: tool?.inputSchema });
  },
};

/** The same for every way to a token. */
async function callProtected(client: Client): Promise<void> {
  await client.listTools();
  await client.callTool("test-tool", {});
}

const isProtected = scenario.startsWith("auth/");
const run = isProtected ? callProtected : scenarios[scenario];
if (run === undefined) throw new Error(`there is no program for the scenario "${scenario}"`);
const client = await connect(url, isProtected ? { ...options, auth: await authOf(scenario, context) } : options);
await run(client);
await client.close();
process.exit(0);
