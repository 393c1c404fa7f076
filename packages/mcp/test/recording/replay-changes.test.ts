import { type Client, connect, type Revision, Server } from "@parley/mcp";
import { parseRecording, replayedServer } from "@parley/mcp/recording";
import { beforeAll, describe, expect, it } from "vitest";
import { SessionRecorder } from "./session-recorder.js";

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
  let text: string;
  beforeAll(async () => {
    const recorder = new SessionRecorder({ target: { kind: "module", name: "growing" } });
    await using client = await connect(growing(), { revisions: [recorded], onMessage: recorder.watch });
    expect(await grow(client)).toEqual(["grow", "grown"]);
    text = recorder.text();
  });

  it.each(ERAS)("are told to a client of %s after what brought them", async (revision) => {
    const server = await replayedServer(parseRecording(text, "s.jsonl"));
    await using _ended = { [Symbol.asyncDispose]: () => server.close() };
    await using client = await connect(server, { revisions: [revision] });
    expect(await grow(client)).toEqual(["grow", "grown"]);
  });
});

describe.each(ERAS)("an update of a resource while it is read, recorded in %s", (recorded) => {
  it.each(ERAS)("is sent once to a client of %s, however often the resource is read", async (revision) => {
    const live = new Server({ name: "stock", version: "1" });
    live.resource("stock://a", {}, () => {
      live.resourceUpdated("stock://a");
      return "a";
    });
    live.resource("stock://b", {}, () => {
      live.resourceUpdated("stock://b");
      return "b";
    });
    const recorder = new SessionRecorder({ target: { kind: "module", name: "stock" } });
    {
      await using client = await connect(live, { revisions: [recorded], onMessage: recorder.watch });
      await readAll(client, ["stock://a", "stock://b"]);
    }
    const server = await replayedServer(parseRecording(recorder.text(), "s.jsonl"));
    await using _ended = { [Symbol.asyncDispose]: () => server.close() };
    await using client = await connect(server, { revisions: [revision] });
    expect(await readAll(client, ["stock://a", "stock://a", "stock://b"])).toEqual(["stock://a", "stock://b"]);
  });
});

/** Reads resources of a server, and returns the updates that it sent until the one of the last resource. */
async function readAll(client: Client, uris: readonly string[]): Promise<string[]> {
  const updated: string[] = [];
  const subscription = await client.subscribe({ resources: [...new Set(uris)] });
  const last = new Promise<void>((resolve) =>
    client.on("notifications/resources/updated", ({ uri }) => {
      updated.push(uri);
      if (uri === uris.at(-1)) resolve();
    }),
  );
  for (const uri of uris) await client.readResource(uri, { cache: false });
  await last;
  await subscription.close();
  return updated;
}
