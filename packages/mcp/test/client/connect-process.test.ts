import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@parley/mcp";
import { afterAll, describe, expect, it } from "vitest";
import { STATEFUL } from "./scripted-pipe.js";

const folder = mkdtempSync(join(tmpdir(), "parley-connect-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A legacy server as a program of plain Node: it writes each method it hears to a file and does `onProbe` at the probe. */
function legacyProgram(log: string, onProbe: string): { command: string; args: string[] } {
  const program = `
    const { appendFileSync } = require("node:fs");
    const log = ${JSON.stringify(log)};
    appendFileSync(log, "start\\n");
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method, params } = JSON.parse(line);
      appendFileSync(log, method + "\\n");
      const say = (rest) => console.log(JSON.stringify({ jsonrpc: "2.0", id, ...rest }));
      if (method === "server/discover") { ${onProbe} }
      else if (method === "initialize") say({ result: { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: { name: "old", version: "1" } } });
      else if (id !== undefined) say({ result: {} });
    });`;
  return { command: process.execPath, args: ["-e", program] };
}

const heard = (log: string) => readFileSync(log, "utf8").trim().split("\n");

describe("a server that is a process", () => {
  it("ERA-07: one that exits because of the probe is started once more and greeted at once; the next client knows", async () => {
    const log = join(folder, "exits");
    const target = legacyProgram(log, "process.exit(1);");
    const client = await connect(target);
    expect(client.protocolVersion).toBe(STATEFUL);
    await client.ping();
    expect(heard(log).slice(0, 4)).toEqual(["start", "server/discover", "start", "initialize"]);
    await client.close();
    const before = heard(log).length;
    const next = await connect(target);
    expect(heard(log).slice(before, before + 2)).toEqual(["start", "initialize"]);
    await next.close();
  });

  it("ERA-05: one that answers with an error is greeted in the same process", async () => {
    const log = join(folder, "refuses");
    const client = await connect(legacyProgram(log, "say({ error: { code: -32601, message: 'what?' } });"));
    await client.ping();
    expect(heard(log)).toEqual(["start", "server/discover", "initialize", "notifications/initialized", "ping"]);
    await client.close();
  });

  it("ERA-05: one that stays silent is greeted in the same process after a second", async () => {
    const log = join(folder, "silent");
    const client = await connect(legacyProgram(log, ""));
    expect(heard(log).filter((line) => line === "start")).toHaveLength(1);
    await client.close();
  });

  it("pain 6: one that does not exist is not started twice, and the error says so", async () => {
    await expect(connect({ command: "no-such-program-anywhere" })).rejects.toMatchObject({
      kind: "connect_failed",
      data: { reason: "missing_binary" },
      fix: expect.any(String),
    });
  });

  it("pain 6: one that hangs is explained with what it said on stderr", async () => {
    const hangs = {
      command: process.execPath,
      args: ["-e", "console.error('waiting for a licence'); setInterval(() => {}, 1000)"],
    };
    await expect(connect(hangs, { timeouts: { connectMs: 1500 } })).rejects.toMatchObject({
      kind: "connect_failed",
      message: expect.stringContaining("waiting for a licence"),
      cause: { kind: "timeout", fix: expect.stringContaining("timeouts.connectMs") },
    });
  });
});
