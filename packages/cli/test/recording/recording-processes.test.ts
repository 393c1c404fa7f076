import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@parley/mcp";
import { parseRecording } from "@parley/mcp/recording";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { bundleParley } from "../kit/bundle-parley.js";

const fixture = new URL("../fixtures/fixture-server.ts", import.meta.url).pathname;
const peers = new URL("../../../mcp/test/peers/node_modules/@modelcontextprotocol/", import.meta.url).pathname;
const everything = join(peers, "server-everything/dist/index.js");

describe("recording as a program of a host", () => {
  let cwd: string;
  let parley: string;
  const children = new Set<ChildProcess>();
  beforeAll(async () => {
    cwd = mkdtempSync(join(tmpdir(), "parley-recording-processes-"));
    parley = await bundleParley();
  });
  // A process that does not end by itself must not outlive its test.
  afterEach(() => {
    for (const child of children) child.kill("SIGKILL");
    children.clear();
  });
  afterAll(() => rmSync(cwd, { recursive: true, force: true }));

  it("records on stdin and stdout, and replays there, for clients of another era", async () => {
    const program = (...args: string[]) => ({ command: process.execPath, args: [parley, ...args], cwd });
    const env = { SECRET_WORD: "xyzzy-plugh" };
    const inner = [process.execPath, parley, "run", fixture, "--stdio"];
    const words = ["record", "-o", "s.jsonl", "--env", `SECRET_WORD=${env.SECRET_WORD}`, "--", ...inner];
    {
      await using client = await connect(program(...words), { revisions: ["2025-11-25"] });
      expect(await client.call("add", { a: 2, b: 3 })).toEqual({ sum: 5 });
      expect(await client.call("echo", { text: "say xyzzy-plugh" })).toBe("say xyzzy-plugh");
    }
    const path = join(cwd, "s.jsonl");
    const text = readFileSync(path, "utf8");
    expect(text).not.toContain("xyzzy");
    expect(parseRecording(text, path).header.server?.name).toBe("fixture");

    await using client = await connect(program("replay", "s.jsonl"), { revisions: ["2026-07-28"] });
    expect(await client.call("add", { a: 2, b: 3 })).toEqual({ sum: 5 });
    expect(await client.call("echo", { text: "say anything" })).toBe("say [redacted]");
  });

  /** A session in which the list changed while it was asked for. */
  const CHANGED_WHILE_LISTED = [
    { format: "parley-recording", version: 1, began: new Date(0), target: { kind: "module", name: "m" } },
    { direction: "sent", message: { id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } } },
    {
      direction: "received",
      message: {
        id: 1,
        result: {
          protocolVersion: "2025-11-25",
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: "changing", version: "1" },
        },
      },
    },
    { direction: "sent", message: { id: 2, method: "tools/list", params: {} } },
    { direction: "received", message: { method: "notifications/tools/list_changed" } },
    {
      direction: "received",
      message: { id: 2, result: { tools: [{ name: "only", inputSchema: { type: "object" } }] } },
    },
  ].map((line, ms) =>
    JSON.stringify(
      "message" in line
        ? { ms, ...line, message: { jsonrpc: "2.0", ...line.message } }
        : { ...line, revision: "2025-11-25", server: { name: "changing", version: "1" }, redacted: true },
    ),
  );

  /** Serves a recording by a process until it says where. */
  async function replayProcess(file: string): Promise<{ child: ChildProcess; url: string }> {
    const child = spawn(process.execPath, [parley, "replay", file, "--http", "0"], {
      cwd,
      stdio: ["ignore", "ignore", "pipe"],
    });
    children.add(child);
    let said = "";
    for await (const chunk of child.stderr.setEncoding("utf8")) {
      said += chunk;
      const [, url] = /serving at (\S+)/.exec(said) ?? [];
      if (url !== undefined) return { child, url };
    }
    throw new Error(said);
  }

  it.each(["SIGTERM", "SIGINT"] as const)("sends a recorded change once, and ends on %s", async (signal) => {
    writeFileSync(join(cwd, "changed.jsonl"), `${CHANGED_WHILE_LISTED.join("\n")}\n`);
    const { child, url } = await replayProcess("changed.jsonl");
    const exited = once(child, "exit");
    try {
      await using client = await connect(url);
      expect((await client.allTools()).map(({ name }) => name)).toEqual(["only"]);
    } finally {
      child.kill(signal);
    }
    expect(await exited).toEqual([0, null]);
  });

  it.skipIf(!existsSync(everything))("serves what `list --record` wrote of server-everything", async () => {
    const words = ["list", "tools", "--record", "everything.jsonl", "--", process.execPath, everything, "stdio"];
    const listing = spawn(process.execPath, [parley, ...words], { cwd, stdio: "ignore" });
    children.add(listing);
    expect(await once(listing, "exit")).toEqual([0, null]);
    expect(readFileSync(join(cwd, "everything.jsonl"), "utf8")).toContain("notifications/tools/list_changed");
    const { child, url } = await replayProcess("everything.jsonl");
    const exited = once(child, "exit");
    try {
      await using client = await connect(url);
      expect((await client.allTools()).map(({ name }) => name)).toContain("echo");
    } finally {
      child.kill("SIGTERM");
    }
    expect(await exited).toEqual([0, null]);
  });
});
