import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Client, connect } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { REVISIONS } from "@parley/mcp/protocol";
import { channelPair } from "@parley/mcp/testing";
import { channelTransport, serveChannel } from "@parley/mcp/transport";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { server } from "../fixtures/fixture-server.js";
import { runParley } from "../kit/run-parley.js";

/** What the generated JavaScript of the fixture has. */
type Generated = Record<
  "add" | "echo" | "picture" | "reviewPrompt" | "noteResource",
  (client: Client, args?: object, options?: object) => Promise<unknown>
>;

/** The texts that a client of a revision sends while it does something, byte by byte. */
async function framesOf(
  revision: (typeof REVISIONS)[number],
  act: (client: Client) => Promise<unknown>,
): Promise<string[]> {
  const [here, there] = channelPair();
  const frames: string[] = [];
  const watched = {
    open: here.open.bind(here),
    close: here.close.bind(here),
    send(text: string) {
      frames.push(text);
      here.send(text);
    },
  };
  serveChannel(server.endpoint(), there);
  const client = await connect(channelTransport(watched, "a pipe"), { revisions: [revision], onWarning: () => {} });
  await act(client);
  await client.close();
  return frames;
}

describe("a server", () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-frames-"));
  let generated: Generated;
  beforeAll(async () => {
    const handle = await serveHttp(server, { port: 0 });
    const { code } = await runParley(["types", handle.url, "-o", "fixture.mjs"], { cwd: folder });
    await handle.close();
    expect(code).toBe(0);
    generated = (await import(pathToFileURL(join(folder, "fixture.mjs")).href)) as Generated;
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(REVISIONS)("gets the same bytes from direct calls and from generated ones (E09, %s)", async (revision) => {
    const direct = await framesOf(revision, async (client) => {
      expect(await client.call("add", { b: 2, a: 1 })).toEqual({ sum: 3 });
      await client.call("echo", { text: "é\u2028" }, { meta: { "example.com/x": 1 } });
      await client.call("picture");
      await expect(client.call("add", { a: 1 })).rejects.toMatchObject({ kind: "tool_error" });
      await client.getPrompt("review", { language: "go" });
      await client.readResource("note://a%20day");
    });
    const byCode = await framesOf(revision, async (client) => {
      expect(await generated.add(client, { b: 2, a: 1 })).toEqual({ sum: 3 });
      await generated.echo(client, { text: "é\u2028" }, { meta: { "example.com/x": 1 } });
      await generated.picture(client);
      await expect(generated.add(client, { a: 1 })).rejects.toMatchObject({ kind: "tool_error" });
      await generated.reviewPrompt(client, { language: "go" });
      await generated.noteResource(client, { day: "a day" });
    });
    expect(direct.length).toBeGreaterThan(5);
    expect(byCode).toEqual(direct);
  });
});
