import { describe, expect, it } from "vitest";
import { runParley } from "../kit/run-parley.js";
import { ModuleFolder } from "../run/module-folder.js";

/** Answers each call with the result that stands in its arguments; `tasked` wants to be a task. */
const PROGRAM = `
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const answer = (body) => id !== undefined && console.log(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
  const serverInfo = { name: "mirror", version: "1" };
  const inputSchema = { type: "object", additionalProperties: true };
  const tools = [{ name: "give", inputSchema }, { name: "tasked", inputSchema, execution: { taskSupport: "required" } }];
  if (method === "initialize") answer({ result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo } });
  else if (method === "tools/list") answer({ result: { tools } });
  else if (method === "tools/call") answer({ result: params.arguments });
  else answer({ error: { code: -32601, message: "unknown" } });
});`;

async function call(...words: readonly string[]) {
  using folder = new ModuleFolder({ "mirror.cjs": PROGRAM });
  return await runParley(["call", ...words, "--", process.execPath, "mirror.cjs"], { cwd: folder.path });
}

const text = (one: string) => ({ type: "text", text: one });

describe("the result of a tool", () => {
  it.each([
    ["text that structured content is", [text('{"a":1,"b":2}')], { a: 1, b: 2 }, '{\n  "a": 1,\n  "b": 2\n}\n'],
    ["text that structured content wraps", [text("[DIR] bin")], { content: "[DIR] bin" }, "[DIR] bin\n"],
    ["JSON that structured content wraps", [text("[1]")], { items: [1] }, "[1]\n"],
  ])("shows once: %s", async (_what, content, structuredContent, expected) => {
    const { stdout } = await call("give", JSON.stringify({ content, structuredContent }));
    expect(stdout).toBe(expected);
  });

  it.each([
    [[text("done")], { count: 1 }],
    [[text("one"), text("two")], { content: "one" }],
    [[text("one")], { content: "one", more: true }],
  ])("shows both where they differ: %j", async (content, structuredContent) => {
    const { stdout } = await call("give", JSON.stringify({ content, structuredContent }));
    expect(stdout).toBe(
      `${content.map((block) => `${block.text}\n`).join("")}${JSON.stringify(structuredContent, undefined, 2)}\n`,
    );
  });

  it("is not asked for where the tool runs only as a task", async () => {
    const { code, stderr } = await call("tasked");
    expect(code).toBe(1);
    expect(stderr).toBe("error: tasked runs only as a task\nfix:   Add --task.\n");
  });
});
