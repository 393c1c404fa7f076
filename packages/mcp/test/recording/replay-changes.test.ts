import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect, type Revision, Server } from "@parley/mcp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Recorder } from "../../src/recording/recorder.js";
import { parseRecording } from "../../src/recording/recording.js";
import { replayedServer } from "../../src/recording/replay.js";

const ERAS: readonly Revision[] = ["2025-11-25", "2026-07-28"];

function growing(): Server {
  const server = new Server({ name: "growing", version: "1" });
  return server.tool("grow", {}, () => {
    server.tool("grown", {}, () => "here");
    return "grown";
  });
}

/** Grows the server, and waits until the client is told. */
async function grow(client: Client): Promise<string[]> {
  const told = new Promise((resolve) => client.on("notifications/tools/list_changed", resolve));
  const subscription = await client.subscribe({ tools: true });
  expect((await client.allTools({ cache: false })).map(({ name }) => name)).toEqual(["grow"]);
  expect(await client.call("grow")).toBe("grown");
  await told;
  const names = (await client.allTools({ cache: false })).map(({ name }) => name);
  await subscription.close();
  return names;
}

describe.each(ERAS)("changes in a recording of %s", (recorded) => {
  let folder: string;
  let text: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "parley-changes-"));
    const path = join(folder, "s.jsonl");
    const recorder = new Recorder(path, { target: { kind: "module", name: "growing" }, onNote: () => {} });
    await using client = await connect(growing(), { revisions: [recorded], onMessage: recorder.watch });
    recorder.established();
    expect(await grow(client)).toEqual(["grow", "grown"]);
    recorder.close();
    text = readFileSync(path, "utf8");
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(ERAS)("are told to a client of %s after what brought them", async (revision) => {
    const server = await replayedServer(parseRecording(text, "s.jsonl"));
    await using _ended = { [Symbol.asyncDispose]: () => server.close() };
    await using client = await connect(server, { revisions: [revision] });
    expect(await grow(client)).toEqual(["grow", "grown"]);
  });
});
