import { type ClientOptions, connect, McpError, Server } from "@parley/mcp";
import { recordedTransport, type SentMessage } from "@parley/mcp/testing";
import { afterEach, describe, expect, it, vi } from "vitest";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const end of ends.splice(0).reverse()) await end();
});

/** Changes the title, forges a line, clears the screen by C1, and turns the direction of what follows. */
const HOSTILE = "a\u001b]0;pwned\u0007\n2026-01-01 INFO admin logged in\u009b2J\u202eb";
/** What must not reach a terminal. A line feed is fine where the next line is indented. */
const UNSAFE = /(?!\n )[\p{Cc}\u2028-\u202e\u2066-\u2069]/u;

/** A client of a server that answers one method in its own way. */
async function answered(method: string, answer: object, options: ClientOptions = {}) {
  const transport = recordedTransport({
    server: new Server({ name: "s", version: "1" }).tool("t", {}, () => "").resource("r://a", {}, () => ""),
    onSent: (message: SentMessage, { inject }) => {
      if (message.method === method) inject({ jsonrpc: "2.0", id: message.id, ...answer });
    },
  });
  const client = await connect(transport, options);
  ends.push(() => client.close());
  return client;
}

describe("text of a server", () => {
  it("in an error is on one line, and controls no terminal", async () => {
    const client = await answered("resources/read", { error: { code: -32602, message: HOSTILE } });
    const error = await client.readResource("r://a").catch((reason: unknown) => reason);
    if (!McpError.is(error)) throw error;
    expect(error.message).toBe("a\\u001b]0;pwned\\u0007\\n2026-01-01 INFO admin logged in\\u009b2J\\u202eb");
  });

  it("in a warning is the same for `onWarning` and for stderr", async () => {
    const tools = [{ name: HOSTILE, inputSchema: { type: "object" }, icons: [{ src: "javascript:x" }] }];
    const result = { resultType: "complete", tools, ttlMs: 0, cacheScope: "private" };
    const warnings: string[] = [];
    const told = await answered("tools/list", { result }, { onWarning: (text) => void warnings.push(text) });
    await told.listTools();
    vi.spyOn(process.stderr, "write").mockImplementation((text) => warnings.push(String(text).trimEnd()) > 0);
    const printed = await answered("tools/list", { result });
    await printed.listTools();
    expect(warnings).toHaveLength(2);
    for (const warning of warnings) {
      expect(warning).toContain("\\u001b]0;pwned");
      expect(warning).not.toMatch(UNSAFE);
    }
  });

  it("in the check of a result is escaped", async () => {
    const wrong = { resultType: HOSTILE, content: [] };
    const client = await answered("tools/call", { result: wrong });
    const error = await client.callTool("t", {}).catch((reason: unknown) => reason);
    if (!McpError.is(error)) throw error;
    expect(error.message).not.toMatch(UNSAFE);
  });

  it("that a tool means for a model stays as it is", async () => {
    const client = await answered("tools/call", {
      result: { resultType: "complete", isError: true, content: [{ type: "text", text: "one\n\u200ftwo" }] },
    });
    await expect(client.call("t", {})).rejects.toMatchObject({ kind: "tool_error", message: "one\n\u200ftwo" });
  });
});

describe("addresses of a server", () => {
  const good = "https://a.example/x";

  it("are left out of `url_elicitation_required` if they must not be opened", async () => {
    const elicitations = ["javascript:alert(1)", good, "https://user:pw@evil.example/"].map((url) => ({ url }));
    const client = await answered("tools/call", { error: { code: -32042, message: "log in", data: { elicitations } } });
    await expect(client.callTool("t", {})).rejects.toMatchObject({
      kind: "url_elicitation_required",
      remote: true,
      data: { elicitations: [{ url: good }] },
    });
  });

  it("of icons are left out of links", async () => {
    const link = { type: "resource_link", uri: "r://a", name: "a" };
    const content = [
      { ...link, icons: [{ src: "javascript:x" }] },
      { ...link, icons: [{ src: good }] },
    ];
    const client = await answered(
      "tools/call",
      { result: { resultType: "complete", content } },
      { onWarning: () => {} },
    );
    expect((await client.callTool("t", {})).content).toEqual([link, { ...link, icons: [{ src: good }] }]);
  });
});

it("text of a client in the error of a watcher controls no terminal", async () => {
  const printed: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => printed.push(String(text).trimEnd()) > 0);
  const watch = (uri: string) => {
    throw new Error(`no ${decodeURIComponent(uri)}`);
  };
  const server = new Server({ name: "s", version: "1" }, { subscribe: true });
  const client = await connect(server.resourceTemplate("r://{x}", { watch }, () => ""));
  ends.push(() => client.close());
  await client.subscribe(`r://${encodeURIComponent(HOSTILE)}`);
  await expect.poll(() => printed.join("")).toContain("\\u001b]0;pwned");
  expect(printed.join("\n ")).not.toMatch(UNSAFE);
});
