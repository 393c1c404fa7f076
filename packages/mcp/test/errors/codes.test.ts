import { McpError, Server, urlRequired } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { Drive, textOf } from "../server/drive.js";

const info = { name: "s", version: "1" };
const visits = [{ message: "Sign in", url: "https://example.com/in" }];

function raise(thrown: unknown): never {
  throw thrown;
}

/** A server on which everything but a tool demands a visit. */
const demanding = () =>
  new Server(info)
    .resource("a://b", {}, () => raise(urlRequired(visits)))
    .prompt("p", { arguments: { x: { complete: () => raise(urlRequired(visits)) } } }, () =>
      raise(urlRequired(visits)),
    );

const completion = { ref: { type: "ref/prompt", name: "p" }, argument: { name: "x", value: "" } };

describe("an answer in 2026-07-28", () => {
  it("carries no code that the revision reserves or has given up (BASE-33)", async () => {
    const server = new Server(info);
    const codes = { reserved: -32099, missing: -32002, visit: -32042, first: -32020 - 3 };
    for (const [name, code] of Object.entries(codes)) {
      server.tool(name, {}, () => raise(new McpError("internal_error", name, { code, data: { kept: true } })));
    }
    server
      .tool("upstream", {}, () => raise(new McpError("header_mismatch", "upstream", { remote: true })))
      .tool("version", {}, () => raise(new McpError("unsupported_version", "version")))
      .tool("own", {}, () => raise(new McpError("internal_error", "own", { code: -31999 })));
    const drive = new Drive(server as Server);
    for (const name of [...Object.keys(codes), "upstream", "version"]) {
      const { error, answer } = await drive.call(name);
      expect([name, error?.code, answer.status ?? 200]).toEqual([name, -32603, 200]);
      expect(error?.message).toBe(name);
    }
    expect((await drive.call("reserved")).error?.data).toEqual({ kept: true });
    expect((await drive.call("own")).error?.code).toBe(-31999);
  });

  it("says in words what the user must visit where no question can be asked (BASE-33)", async () => {
    const capabilities = { elicitation: { url: {} } };
    const completed = await new Drive(demanding(), { capabilities }).send("completion/complete", completion);
    expect(completed.error).toMatchObject({ code: -32603, message: expect.stringContaining("https://example.com/in") });
    const middleware = new Server(info).tool("t", {}, () => "").use(() => raise(urlRequired(visits)));
    expect((await new Drive(middleware, { capabilities }).call("t")).error?.code).toBe(-32603);
    const empty = new Server(info).tool("t", {}, () => raise(urlRequired([])));
    expect((await new Drive(empty, { capabilities }).call("t")).error?.code).toBe(-32603);
  });
});

describe("a page that must be visited first", () => {
  const asks = [
    ["resources/read", { uri: "a://b" }],
    ["prompts/get", { name: "p" }],
    ["completion/complete", completion],
  ] as const;

  it.each(["2024-11-05", "2025-03-26", "2025-06-18"] as const)("is told in words in %s (ELIC-14)", async (revision) => {
    const drive = new Drive(demanding(), { revision, capabilities: { elicitation: { url: {} } } });
    for (const [method, params] of asks) {
      const { error } = await drive.send(method, params);
      expect(error).toMatchObject({ code: -32603, message: expect.stringContaining("https://example.com/in") });
      expect(error?.data).toBeUndefined();
    }
  });

  it("is -32042 only for clients of 2025-11-25 that show pages, and only with pages (ELIC-14)", async () => {
    const able = new Drive(demanding(), { revision: "2025-11-25", capabilities: { elicitation: { url: {} } } });
    const unable = new Drive(demanding(), { revision: "2025-11-25", capabilities: { elicitation: {} } });
    for (const [method, params] of asks) {
      expect((await able.send(method, params)).error).toMatchObject({
        code: -32042,
        data: { elicitations: [{ mode: "url", elicitationId: expect.any(String) }] },
      });
      expect((await unable.send(method, params)).error?.code).toBe(-32603);
    }
    const empty = new Server(info).tool("t", {}, () => raise(urlRequired([])));
    const drive = new Drive(empty, { revision: "2025-11-25", capabilities: { elicitation: { url: {} } } });
    const { result, error } = await drive.call("t");
    expect(error?.code ?? result?.isError).toBe(true);
    expect(textOf(await drive.call("t"))).toContain("must visit");
  });
});
