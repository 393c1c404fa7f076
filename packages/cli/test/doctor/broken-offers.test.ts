import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { runParley } from "../kit/run-parley.js";
import { examine, serveRequests, statuses } from "./examine.js";

type Answers = Readonly<Record<string, unknown>>;

const TOOL = { name: "good", description: "Works", inputSchema: { type: "object" } };

/** A server by hand, which can break every rule; a function answers by itself. */
async function serveAnswers(answers: Answers, capabilities: object = { tools: {} }): Promise<string> {
  const initialize = { protocolVersion: "2025-06-18", capabilities, serverInfo: { name: "by hand", version: "1" } };
  const all: Answers = { initialize, ...answers };
  const origin = await serveRequests((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => {
      text += chunk;
    });
    request.on("end", () => {
      if (request.method !== "POST") return void response.writeHead(405).end();
      const { id, method } = JSON.parse(text) as { id?: number; method: string };
      if (id === undefined) return void response.writeHead(202).end();
      const result = all[method];
      if (typeof result === "function") return void result(response);
      const error = { code: -32601, message: `unknown method ${method}` };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) }));
    });
  });
  return `${origin}/mcp`;
}

describe("parley doctor of what a server offers", () => {
  it("says that a server speaks no known revision", async () => {
    const url = await serveAnswers({
      initialize: { protocolVersion: "1999-01-01", capabilities: {}, serverInfo: { name: "old", version: "1" } },
    });
    const seen = await examine([url]);
    expect(seen.code).toBe(3);
    expect(seen.broken).toMatchObject({
      step: "handshake",
      code: "unsupported_revision",
      cause: expect.stringContaining("1999-01-01"),
      fix: expect.stringContaining("this client speaks 2024-11-05"),
    });
  });

  it("names the entry of a list that is invalid, and goes on", async () => {
    const tools = [TOOL, { name: 7, inputSchema: {} }];
    const url = await serveAnswers(
      { "tools/list": { tools }, "prompts/list": { prompts: [] } },
      { tools: {}, prompts: {} },
    );
    const seen = await examine([url]);
    expect(seen.code).toBe(5);
    expect(seen.broken).toMatchObject({
      step: "tools",
      code: "invalid_list",
      cause: expect.stringMatching(/^the list of tools has 1 problem: .*tools\[1\]/),
      fix: expect.stringContaining("Correct these entries"),
    });
    expect(statuses(seen)).toMatchObject({ tools: "failed", resources: "skipped", prompts: "ok", schemas: "ok" });
  });

  it("says that a declared list is not answered", async () => {
    const url = await serveAnswers({ "tools/list": { tools: [TOOL] } }, { tools: {}, prompts: {} });
    const seen = await examine([url]);
    expect(seen.code).toBe(5);
    expect(seen.broken).toMatchObject({
      step: "prompts",
      code: "list_failed",
      cause: expect.stringContaining("unknown method prompts/list"),
      fix: "Implement prompts/list on the server, or remove `prompts` from its capabilities.",
    });
  });

  it("says that a server dies at a list", async () => {
    const url = await serveAnswers({ "tools/list": (response: ServerResponse) => response.destroy() });
    const seen = await examine([url, "--timeout", "8s"]);
    expect(seen.code).toBe(3);
    expect(seen.broken).toMatchObject({
      step: "tools",
      code: "connection_lost",
      cause: expect.stringContaining("the connection ended while tools were listed"),
    });
  });

  it("says that a list is never answered, within its time", async () => {
    const seen = await examine([await serveAnswers({ "tools/list": () => {} }), "--timeout", "4s"]);
    expect(seen.code).toBe(3);
    expect(seen.broken).toMatchObject({
      step: "tools",
      code: "no_answer",
      cause: expect.stringContaining("the server did not answer tools/list"),
      fix: expect.stringContaining("--timeout 2m"),
    });
  });

  it.each([
    [
      "a type that does not exist",
      { inputSchema: { type: "object", properties: { a: { type: "text" } } } },
      "/properties/a/type",
    ],
    [
      "a reference to nothing",
      { inputSchema: { type: "object", properties: { a: { $ref: "#/$defs/a" } } } },
      "/properties/a/$ref",
    ],
    [
      "a broken pattern",
      { outputSchema: { type: "object", properties: { a: { type: "string", pattern: "(" } } } },
      "output of",
    ],
  ])("names the tool and the place of a schema with %s", async (_what, change, place) => {
    const url = await serveAnswers({ "tools/list": { tools: [TOOL, { ...TOOL, name: "bad", ...change }] } });
    const seen = await examine([url]);
    expect(seen.code).toBe(5);
    expect(seen.broken).toMatchObject({ step: "schemas", code: "invalid_schema", fix: expect.stringMatching(/\S/) });
    expect(seen.broken?.cause).toContain("1 tool cannot be used as described: ");
    expect(seen.broken?.cause).toContain('"bad"');
    expect(seen.broken?.cause).toContain(place);
  });

  it("warns of tools without a description, and of missing templates", async () => {
    const { description: _left, ...silent } = TOOL;
    const answers = { "tools/list": { tools: [silent] }, "resources/list": { resources: [] } };
    const seen = await examine([await serveAnswers(answers, { tools: {}, resources: {} })]);
    expect(seen).toMatchObject({ code: 0, ok: true });
    expect(seen.warnings).toEqual(
      expect.arrayContaining(["no_description", "no_templates", "rebinding", "cors_disabled"]),
    );
    expect(statuses(seen)).toMatchObject({ resources: "warning", schemas: "warning", host: "warning" });
  });

  it("sees that strangers are served also where the first request of a client is an error", async () => {
    const refuse = (response: ServerResponse) => {
      const error = { code: -32000, message: "Bad Request: no valid session" };
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error }));
    };
    const url = await serveAnswers({ "tools/list": { tools: [TOOL] }, "server/discover": refuse });
    const seen = await examine([url]);
    expect(seen).toMatchObject({ code: 0, ok: true });
    expect(seen.steps.find(({ step }) => step === "host")?.detail).toBe("any Host and Origin is accepted");
  });

  it("warns of plain http to another machine", async () => {
    const url = await serveAnswers({ "tools/list": { tools: [TOOL] } });
    // This machine, under an address that does not say so.
    const seen = await examine([url.replace("127.0.0.1", "0.0.0.0")]);
    expect(seen).toMatchObject({ code: 0, ok: true });
    expect(seen.warnings).toContain("plain_http");
    expect(statuses(seen)).toMatchObject({ tls: "warning", host: "ok" });
  });

  it("breaks long lines of a terminal between words", async () => {
    const url = await serveAnswers({});
    const { stdout } = await runParley(["doctor", url], { tty: true, columns: 60, env: { NO_COLOR: "1" } });
    expect(stdout).toContain("\nfailed at ");
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(60);
    expect(stdout).toMatch(/^cause: .+\n {7}\S/m);
  });
});
