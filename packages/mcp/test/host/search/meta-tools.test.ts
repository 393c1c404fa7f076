import { connect, Server } from "@parley/mcp";
import type { CallToolResult, Tool } from "@parley/mcp/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MetaTools } from "../../../src/host/gateway/meta-tools.js";
import { fixtureTools } from "./tool-fixture.js";

const textOf = ({ content }: CallToolResult) =>
  content.map((block) => (block.type === "text" ? block.text : "")).join();

async function start() {
  const server = new Server({ name: "s", version: "1" }, { onError: () => {} })
    .tool(
      "mail__send_email",
      {
        description: "Sends an email to somebody. It cannot be taken back.",
        input: { type: "object", properties: { to: { type: "string" }, cc: { type: "string" } }, required: ["to"] },
      },
      ({ to }) => `sent to ${to}`,
    )
    .tool("files__read", { description: "Reads a file." }, async (_args, ctx) => {
      await new Promise((_resolve, reject) =>
        ctx.signal.addEventListener("abort", () => reject(new Error("cancelled"))),
      );
      return "";
    });
  const client = await connect(server);
  let tools: readonly Tool[] = await client.allTools();
  const meta = new MetaTools<{ signal?: AbortSignal }>({
    tools: () => tools,
    callTool: (name, args, options) => client.callTool(name as never, args, options),
  });
  const call = (name: string, args?: Record<string, unknown>) => meta.call(name, args, {});
  return { client, meta, call, set: (next: readonly Tool[]) => (tools = next) };
}

let started: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  started = await start();
});
afterAll(() => started.client.close());

describe("the three tools in front of many", () => {
  it("find, describe and call", async () => {
    const { call } = started;
    const found = await call("search_tools", { query: "write mail" });
    expect(textOf(found)).toBe("mail__send_email(to, cc?): Sends an email to somebody.");
    expect(textOf(await call("search_tools", { query: "mail", detail: "name" }))).toBe("mail__send_email");
    const full = JSON.parse(textOf(await call("describe_tool", { names: ["mail__send_email"] })));
    expect(full.inputSchema.required).toEqual(["to"]);
    expect(textOf(await call("search_tools", { query: "mail", detail: "full" }))).toBe(JSON.stringify(full));
    const sent = await call("call_tool", { name: "mail__send_email", arguments: { to: "ada" } });
    expect(textOf(sent)).toBe("sent to ada");
  });

  it("pass on options, so that a call can be cancelled", async () => {
    const stop = new AbortController();
    const called = started.meta.call("call_tool", { name: "files__read" }, { signal: stop.signal });
    stop.abort();
    await expect(called).rejects.toMatchObject({ kind: "cancelled" });
  });

  it.each([
    ["search_tools", {}, /`query` must be a string/],
    ["search_tools", { query: "x", limit: 1000 }, /`limit`/],
    ["search_tools", { query: "x", detail: "much" }, /`detail`/],
    ["search_tools", { query: "x", server: 1 }, /`server`/],
    ["describe_tool", {}, /`names` must be a list/],
    ["describe_tool", { names: [] }, /`names` must be a list/],
    ["describe_tool", { names: ["mail__sendEmail"] }, /Unknown tool: mail__sendEmail\. Similar: mail__send_email\./],
    ["call_tool", { name: "zzz" }, /Search with search_tools/],
    ["call_tool", { name: "call_tool", arguments: {} }, /Unknown tool: call_tool/],
    ["call_tool", { name: "mail__send_email", arguments: [] }, /`arguments` must be an object/],
    ["call_tool", { name: 1 }, /`name` must be the name/],
    ["other", {}, /Unknown tool: other/],
  ])("tell the model what to correct: %s %j", async (name, args, message) => {
    const result = await started.call(name, args);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(message);
  });

  it("name the servers and their subjects where nothing fits", async () => {
    const result = await started.call("search_tools", { query: "bicycle" });
    expect(result.isError).toBeUndefined();
    expect(textOf(result)).toContain("mail: email, send");
  });

  it("follow changes of the list", async () => {
    const own = await start();
    own.set([...fixtureTools(50)]);
    expect(own.meta.tools()[0]?.description).toContain("50 tools of github (25), gitlab (25)");
    expect((await own.call("call_tool", { name: "mail__send_email" })).isError).toBe(true);
    expect(textOf(await own.call("search_tools", { query: "create issue", limit: 1 }))).toContain(
      "github__create_issue",
    );
    await own.client.close();
  });

  it("stay short, however many servers there are and whatever their names", () => {
    const [one] = fixtureTools(1);
    const tools = Array.from({ length: 5000 }, (_, at) => ({
      ...one,
      name: `s${at}\n${"x".repeat(40)}__t`,
    }));
    const meta = new MetaTools({ tools: () => tools as Tool[], callTool: () => Promise.reject(new Error("none")) });
    expect(JSON.stringify(meta.tools()).length).toBeLessThan(6000);
    expect(meta.tools().map(({ name }) => meta.has(name))).toEqual([true, true, true]);
  });
});
