import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@parley/mcp";
import { parseRecording } from "@parley/mcp/recording";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleParley } from "../kit/bundle-parley.js";

const fixture = new URL("../fixtures/fixture-server.ts", import.meta.url).pathname;

describe("recording as a program of a host", () => {
  let cwd: string;
  let parley: string;
  beforeAll(async () => {
    cwd = mkdtempSync(join(tmpdir(), "parley-recording-processes-"));
    parley = await bundleParley();
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
});
