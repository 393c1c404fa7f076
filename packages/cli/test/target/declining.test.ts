import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runParley } from "../kit/run-parley.js";
import { ModuleFolder } from "../run/module-folder.js";

/** Shows a tool only to clients that can be asked. */
const PROGRAM = `
let known = [];
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const answer = (body) => id !== undefined && console.log(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
  const tool = (name) => ({ name, description: "Does what " + name + " says", inputSchema: { type: "object" } });
  if (method === "initialize") {
    known = Object.keys(params.capabilities).filter((name) => ["elicitation", "sampling"].includes(name));
    const serverInfo = { name: "choosy", version: "1" };
    answer({ result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo } });
  } else if (method === "tools/list") answer({ result: { tools: ["plain", ...known].map(tool) } });
  else if (method === "ping") answer({ result: {} });
  else answer({ error: { code: -32601, message: "unknown" } });
});`;

describe("commands that examine a server", () => {
  it.each([
    ["list", (text: string) => JSON.parse(text).tools.length],
    ["tokens", (text: string) => JSON.parse(text).tools.length],
    ["types", (text: string) => JSON.parse(text).tools],
    ["lint", (text: string) => JSON.parse(text).tools],
    ["lock", (text: string) => JSON.parse(text).servers.choosy.counts.tools],
  ])("see what is shown to clients that can be asked: %s", async (command, count) => {
    using folder = new ModuleFolder();
    writeFileSync(join(folder.path, "choosy.cjs"), PROGRAM);
    const words = [command, "--json", "--", process.execPath, "choosy.cjs"];
    const { stdout, stderr } = await runParley(words, { cwd: folder.path });
    expect(stderr).toBe("");
    expect(count(stdout)).toBe(3);
  });
});
