import { connect, McpError, Server } from "@parley/mcp";
import { parseRecording, replayedServer } from "@parley/mcp/recording";
import { describe, expect, it } from "vitest";
import { server as everything } from "../../../../examples/everything/server.js";
import type { CallRequest } from "../../src/contract/calls.js";
import { type DrivenEngine, driveEngine, ERAS, serverTarget } from "../engine/opened-engine.js";
import { builtPage } from "../kit/built-page.js";

const quiet = { onError: () => {}, platform: { warn: () => {} } };

async function connected(driven: DrivenEngine, target: string, revision?: (typeof ERAS)[number]): Promise<string> {
  const { connection } = await driven.act("connect", { target, ...(revision === undefined ? {} : { revision }) });
  await driven.reaches(connection, "ready");
  return connection;
}

async function called(driven: DrivenEngine, connection: string, name: string, args = {}): Promise<void> {
  const request: CallRequest = { kind: "tool", name, arguments: args };
  const { call } = await driven.act("call", { connection, request });
  await driven.when(({ calls }) => calls.some(({ id, status }) => id === call && status !== "running"));
}

/** A server whose clock can be moved, one tool that reads it and one that sets it. */
function clockServer() {
  const clock = { time: "noon", writes: 0 };
  const server = new Server({ name: "Clock & Co", version: "1" }, quiet)
    .tool("read", { annotations: { readOnlyHint: true } }, () => clock.time)
    .tool("write", { annotations: { readOnlyHint: false } }, () => {
      clock.writes += 1;
      return "written";
    });
  return { clock, server };
}

describe.each(ERAS)("a session in %s", (revision) => {
  it("is exported in a form that the command line reads", async () => {
    const driven = driveEngine({ targets: [serverTarget(everything)] });
    const connection = await connected(driven, "target-1", revision);
    await called(driven, connection, "sum", { numbers: [1, 2] });
    const file = await driven.act("exportSession", { connection });
    expect(file).toMatchObject({ mediaType: "application/x-ndjson" });
    expect(file.name).toMatch(/^everything-[0-9-]{19}\.jsonl$/);
    const { header, messages, notes } = parseRecording(file.text, file.name);
    expect(header).toMatchObject({ revision, redacted: true, server: { name: "everything" } });
    expect(notes).toEqual([]);
    const methods = messages.map(({ message }) => message["method"]);
    expect(methods).toContain("tools/call");
    await using again = await connect(await replayedServer(parseRecording(file.text, file.name)), {
      revisions: [revision],
    });
    expect(await again.call("sum", { numbers: [1, 2] })).toMatchObject({ sum: 3 });
  });

  it("is the same when it is replayed, until the server answers differently", async () => {
    const { clock, server } = clockServer();
    const driven = driveEngine({ targets: [serverTarget(server)] });
    const connection = await connected(driven, "target-1", revision);
    await called(driven, connection, "read");
    await called(driven, connection, "write");
    const same = await driven.act("replay", { session: connection, against: connection, all: false });
    expect(same).toMatchObject({ different: 0, skipped: 1 });
    expect(same.calls.find(({ verdict }) => verdict === "skipped")).toMatchObject({
      about: "write",
      reason: "The tool may change something.",
    });
    expect(clock.writes).toBe(1);
    clock.time = "midnight";
    const later = await driven.act("replay", { session: connection, against: connection, all: true });
    expect(clock.writes).toBe(2);
    expect(later).toMatchObject({ different: 1, skipped: 0 });
    const [call] = later.calls.filter(({ verdict }) => verdict === "different");
    expect(call?.differences).toEqual([{ path: "content.0.text", recorded: "noon", now: "midnight" }]);
    // A replay has a connection of its own, and leaves the timeline alone.
    expect(driven.entries().filter(({ label, kind }) => label === "tools/call" && kind === "request")).toHaveLength(2);
  });

  it("is shown again when it is imported, with times, pairs and flaws, and replayed from there", async () => {
    const { clock, server } = clockServer();
    const driven = driveEngine({ targets: [serverTarget(server)] });
    const connection = await connected(driven, "target-1", revision);
    await called(driven, connection, "read");
    const { text } = await driven.act("exportSession", { connection });
    const { connection: imported } = await driven.act("importSession", { text, name: "kept.jsonl" });
    const info = await driven.reaches(imported, "imported");
    expect(info).toMatchObject({ revision, server: { name: "Clock & Co" }, target: { shown: "kept.jsonl" } });
    expect(info.capabilities).toHaveProperty("tools");
    const entries = driven.entries().filter((entry) => entry.connection === imported);
    const answer = entries.find(({ label, kind }) => label === "tools/call" && kind === "result");
    expect(entries.find(({ seq }) => seq === answer?.answers)).toMatchObject({ about: "read", kind: "request" });
    expect(answer?.latencyMs).toBeGreaterThanOrEqual(0);
    expect(entries.every(({ problems }) => problems === 0)).toBe(true);
    clock.time = "midnight";
    const report = await driven.act("replay", { session: imported, against: connection, all: false });
    expect(report).toMatchObject({ different: 1 });
    const again = await driven.act("exportSession", { connection: imported });
    expect(parseRecording(again.text, "again").messages.length).toBe(parseRecording(text, "first").messages.length);
  });
});

describe("a recording", () => {
  it("keeps what passes while it runs, and how the connection began", async () => {
    const driven = driveEngine({ targets: [serverTarget(everything)] });
    const connection = await connected(driven, "target-1", "2025-11-25");
    await called(driven, connection, "sum", { numbers: [1] });
    await driven.act("startRecording", {});
    // Before anything is recorded, the timeline is what there is.
    const early = parseRecording((await driven.act("exportSession", { connection })).text, "early");
    expect(early.messages.filter(({ message }) => message["method"] === "tools/call")).toHaveLength(1);
    await called(driven, connection, "sum", { numbers: [2] });
    const { recording } = driven.engine.state();
    expect(recording).toMatchObject({ full: false });
    expect(recording?.messages).toBeGreaterThanOrEqual(2);
    await driven.act("stopRecording", {});
    expect(driven.engine.state().recording).toBeUndefined();
    await called(driven, connection, "sum", { numbers: [3] });
    await driven.act("clear", {});
    const { text } = await driven.act("exportSession", { connection });
    const { header, messages } = parseRecording(text, "kept");
    expect(header).toMatchObject({ revision: "2025-11-25", server: { name: "everything" } });
    const calls = messages.filter(({ message }) => message["method"] === "tools/call");
    expect(calls.map(({ message }) => message["params"])).toMatchObject([{ arguments: { numbers: [2] } }]);
  });

  it("tells of what the timeline has forgotten", async () => {
    const driven = driveEngine({ targets: [serverTarget(everything)] });
    const connection = await connected(driven, "target-1");
    await driven.act("clear", {});
    await called(driven, connection, "sum", { numbers: [2] });
    const { text } = await driven.act("exportSession", { connection });
    const { header, notes } = parseRecording(text, "kept");
    expect(notes).toEqual([expect.stringContaining("had dropped")]);
    // The handshake is forgotten too, but what came of it is known.
    expect(header).toMatchObject({ revision: "2026-07-28", server: { name: "everything" } });
  });

  it("is not made of nothing", async () => {
    const driven = driveEngine({ targets: [serverTarget(everything)] });
    const connection = await connected(driven, "target-1");
    await driven.act("disconnect", { connection });
    await driven.act("clear", {});
    await expect(driven.act("exportSession", { connection })).rejects.toMatchObject({ kind: "invalid_params" });
    await expect(driven.act("exportSession", { connection: "c99" })).rejects.toMatchObject({ kind: "invalid_params" });
  });
});

it("happens once at a time", async () => {
  const driven = driveEngine({ targets: [serverTarget(everything)] }, await builtPage());
  const connection = await connected(driven, "target-1");
  await called(driven, connection, "sum", { numbers: [2] });
  const { text } = await driven.act("exportSession", { connection });
  for (const start of [
    () => driven.act("share", {}),
    () => driven.act("importSession", { text, name: "a.jsonl" }),
    () => driven.act("replay", { session: connection, against: connection, all: false }),
  ]) {
    const first = start();
    await expect(start()).rejects.toMatchObject({ kind: "limit_exceeded" });
    await first;
    await start();
  }
});

describe("an import", () => {
  const header = `{"format":"parley-recording","version":1,"began":"2026-01-01T00:00:00.000Z","target":{"kind":"url","name":"x"},"redacted":true}`;
  const line = (message: object) => JSON.stringify({ ms: 1, direction: "received", message });

  it.each([
    ["", "is not a recording"],
    ["<html></html>", "is not a recording"],
    ['{"format":"other"}\n', "is not a recording"],
    [`${header}\nnonsense\n${line({})}\n`, "line 2 is not JSON"],
    [`${header}\n${line({})}\n7\n`, "line 3 is not a message"],
    [`{"format":"parley-recording","version":1}\n`, "line 1 is not a valid header"],
    [`{"format":"parley-recording","version":99}\n`, "has format version 99"],
  ])("of %j says what is wrong", async (text, problem) => {
    const driven = driveEngine();
    const failure = await driven.act("importSession", { text, name: "odd.jsonl" }).catch((reason: unknown) => reason);
    expect(McpError.is(failure) && failure.message).toContain(problem);
    expect(String(failure)).toContain("odd.jsonl");
    expect(driven.engine.state().connections).toEqual([]);
  });

  it("of a session that breaks the schema shows where", async () => {
    const request = JSON.stringify({
      ms: 0,
      direction: "sent",
      message: { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} },
    });
    const answer = line({ jsonrpc: "2.0", id: 1, result: { tools: [{ name: 7 }] } });
    const spoken = header.replace('"redacted"', '"revision":"2025-11-25","redacted"');
    const driven = driveEngine();
    const text = `${spoken}\n${request}\n${answer}\n{"note":"the disk was full"}\n`;
    await driven.act("importSession", { text, name: "odd.jsonl" });
    const [, result, note] = driven.entries();
    expect(result).toMatchObject({ label: "tools/list", kind: "result", latencyMs: 1 });
    expect(result?.problems).toBeGreaterThan(0);
    expect(note).toMatchObject({ kind: "event", label: "note: the disk was full" });
  });

  it("of a session that has no end shows its beginning", async () => {
    const many = Array.from({ length: 10_050 }, (_, at) => line({ jsonrpc: "2.0", method: `notifications/${at}` }));
    const driven = driveEngine();
    await driven.act("importSession", { text: `${header}\n${many.join("\n")}\n`, name: "long.jsonl" });
    expect(driven.entries().at(-1)).toMatchObject({ label: "note: 50 further messages of the file are not shown" });
    expect(driven.entries()).toHaveLength(10_001);
  });

  it("cannot be what a session is replayed against", async () => {
    const driven = driveEngine();
    const request = JSON.stringify({
      ms: 0,
      direction: "sent",
      message: { jsonrpc: "2.0", id: 1, method: "tools/list" },
    });
    const text = `${header}\n${request}\n${line({ jsonrpc: "2.0", id: 1, result: { tools: [] } })}\n`;
    const { connection } = await driven.act("importSession", { text, name: "a.jsonl" });
    const replay = driven.act("replay", { session: connection, against: connection, all: false });
    await expect(replay).rejects.toThrow("a.jsonl is a recorded session, which has no server");
  });
});
