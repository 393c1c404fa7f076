import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { parseRecording } from "@parley/mcp/recording";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { Recorder } from "../../src/recording/recorder.js";
import { server as fixture } from "../fixtures/fixture-server.js";
import { runParley } from "../kit/run-parley.js";
import { servedParley } from "./served-parley.js";

describe("parley record and replay", () => {
  let cwd: string;
  let handle: Awaited<ReturnType<typeof serveHttp>>;
  beforeEach(async () => {
    cwd = mkdtempSync(join(tmpdir(), "parley-recording-"));
    handle = await serveHttp(fixture, { port: 0 });
  });
  afterEach(async () => {
    await handle.close();
    rmSync(cwd, { recursive: true, force: true });
  });

  /** Records a session of a client with the fixture, by `parley record`. */
  async function recordSession(...more: string[]): Promise<string> {
    await using recording = await servedParley(["record", handle.url, "-o", "s.jsonl", ...more, "--http"], { cwd });
    await using client = await connect(recording.url, {
      onElicit: () => ({ action: "accept", content: { name: "Ada", colour: "red", news: false } }),
    });
    await client.allTools();
    expect(await client.call("add", { a: 1, b: 2 })).toEqual({ sum: 3 });
    await client.callTool("greet");
    await client.callTool("echo", { text: "my password=hunter2222" });
    await client.readResource("note://today");
    return join(cwd, "s.jsonl");
  }

  it("records between a client and a server, and serves the file back", async () => {
    const file = await recordSession();
    expect(readFileSync(file, "utf8")).not.toContain("hunter");
    await using replayed = await servedParley(["replay", "--http", "s.jsonl"], { cwd });
    await using client = await connect(replayed.url, {
      revisions: ["2025-06-18"],
      onElicit: () => ({ action: "accept", content: { name: "Eve", colour: "red", news: false } }),
    });
    expect(client.serverInfo?.name).toBe("fixture");
    expect(await client.call("add", { a: 1, b: 2 })).toEqual({ sum: 3 });
    expect(await client.call("greet")).toBe("Hello Ada, red");
    expect(await client.call("echo", { text: "my password=something" })).toBe("my password=[redacted]");
    await expect(client.call("add", { a: 5, b: 5 })).rejects.toThrow("The nearest recorded request is");
  });

  it("sends a recording to a live server, and skips tools that may change something", async () => {
    await recordSession();
    const { code, stdout } = await runParley(["replay", "s.jsonl", "--against", handle.url], { cwd });
    expect(stdout).toContain('same       tools/call {"arguments":{"a":1,"b":2},"name":"add"}');
    expect(stdout).toContain("the tool may change something; use --all to call it");
    expect(stdout).toMatch(/\d same, 0 different, 2 skipped\n$/);
    expect(code).toBe(0);
  });

  it("answers questions of a live server as they were answered", async () => {
    await recordSession("--no-redact");
    const { code, stdout } = await runParley(["replay", "s.jsonl", "--against", handle.url, "--all", "--json"], {
      cwd,
    });
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ different: 0, skipped: 0 });
    expect(report.requests.find((one: { params: { name?: string } }) => one.params.name === "greet").verdict).toBe(
      "same",
    );
    expect(code).toBe(0);
  });

  it("shows what a server answers differently, and exits with 5", async () => {
    await recordSession();
    const changed = new Server({ name: "fixture", version: "2" }).tool(
      "add",
      {
        input: z.object({ a: z.number(), b: z.number() }),
        output: z.object({ sum: z.number() }),
        annotations: { readOnlyHint: true },
      },
      ({ a, b }) => ({ sum: a * b }),
    );
    await using other = await serveHttp(changed, { port: 0 });
    const { code, stdout } = await runParley(["replay", "s.jsonl", "--against", other.url], { cwd });
    expect(code).toBe(5);
    expect(stdout).toContain("structuredContent.sum\n           - 3\n           + 2\n");
    const ignoring = await runParley(
      ["replay", "s.jsonl", "--against", other.url, "--ignore", "structuredContent.*", "--ignore", "content", "--json"],
      { cwd },
    );
    const add = JSON.parse(ignoring.stdout).requests.find((one: { method: string }) => one.method === "tools/call");
    expect(add.verdict).toBe("same");
  });

  it.each([
    [["record", "http://127.0.0.1:1/mcp"], "which file?"],
    [["replay"], "which recording?"],
    [["replay", "none.jsonl"], "the file none.jsonl does not exist"],
    [["replay", "other.txt"], "other.txt is not a recording"],
    [["replay", "later.jsonl"], "has format version 99"],
    [["replay", "broken.jsonl"], "line 2 is not JSON"],
    [["replay", "empty.jsonl", "--stdio"], "no complete handshake"],
    [["replay", "empty.jsonl", "--stdio", "--http"], "cannot be combined"],
    [["replay", "empty.jsonl", "--against", "x"], "no request to send"],
    [["ping", "http://127.0.0.1:1/mcp", "--record", "a.jsonl", "--redact", "("], "not a valid regular expression"],
  ])("%j fails with its cause and a fix", async (args, cause) => {
    const header = {
      format: "parley-recording",
      version: 1,
      began: "",
      target: { kind: "url", name: "" },
      redacted: true,
    };
    writeFileSync(join(cwd, "other.txt"), "hello\n");
    writeFileSync(join(cwd, "later.jsonl"), `${JSON.stringify({ ...header, version: 99 })}\n`);
    writeFileSync(join(cwd, "broken.jsonl"), `${JSON.stringify(header)}\n{\n{}\n`);
    writeFileSync(join(cwd, "empty.jsonl"), `${JSON.stringify(header)}\n`);
    writeFileSync(join(cwd, ".mcp.json"), '{"mcpServers":{"x":{"command":"true"}}}');
    const { code, stderr } = await runParley(args, { cwd });
    expect(stderr).toContain(cause);
    expect(stderr).toMatch(/^fix: /m);
    expect(code).toBe(2);
  });

  it("stops writing at its limit, and says so, while calls go on", async () => {
    const path = join(cwd, "small.jsonl");
    const notes: string[] = [];
    const recorder = new Recorder(path, {
      target: { kind: "module", name: "fixture" },
      onNote: (note) => notes.push(note),
      maxBytes: 2_000,
    });
    await using client = await connect(fixture, { onMessage: recorder.watch });
    recorder.established();
    for (let round = 0; round < 20; round++)
      expect(await client.call("echo", { text: "x".repeat(100) })).toHaveLength(100);
    recorder.close();
    expect(notes).toEqual([expect.stringContaining("it would be longer than 2000 bytes")]);
    const text = readFileSync(path, "utf8");
    expect(text.length).toBeLessThanOrEqual(2_000);
    expect(parseRecording(text, path).notes).toHaveLength(1);
  });
});
