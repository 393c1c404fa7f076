import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { connect } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EventReader, LegacyClient } from "../http/legacy-client.js";
import { bundleFixture } from "../stdio/bundle-fixture.js";
import { NEWER_NODES } from "./newer-nodes.js";

const node = NEWER_NODES[0];
const folder = mkdtempSync(join(tmpdir(), "parley-restart-"));
let program = "";
const started: ChildProcess[] = [];

beforeAll(async () => {
  program = await bundleFixture(new URL("./fixtures/restarted-server.ts", import.meta.url));
});
afterAll(() => {
  for (const child of started) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function start(file: string, port = "0"): Promise<string> {
  const args = ["--disable-warning=ExperimentalWarning", program, join(folder, file), port];
  const child = spawn(node?.binary ?? "", args, { stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  return String(value).replace("listening ", "");
}

/** Kills the server that was started last, and starts another one in its place. */
async function restart(file: string, url: string): Promise<void> {
  const child = started.pop();
  if (child === undefined) throw new Error("a server runs");
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
  expect(await start(file, new URL(url).port)).toBe(url);
}

async function text(client: LegacyClient, tool: string, args = {}): Promise<string> {
  const answer = (await (await client.call(tool, args)).json()) as { result: { content: { text: string }[] } };
  return answer.result.content[0]?.text ?? "";
}

describe.skipIf(node?.installed !== true)("a server on a SQLite file that is killed and started again", () => {
  it("goes on with its sessions, streams, tasks and grants", async () => {
    const url = await start("state.db");
    const client = new LegacyClient(url);
    await client.open();
    const pid = await text(client, "pid");
    const reader = new EventReader(await client.call("count", {}, undefined, { progressToken: 1 }));
    const first = await reader.message();
    expect(first).toMatchObject({ method: "notifications/progress", params: { progress: 1 } });
    await reader.cancel();
    const grant = await text(client, "grant");
    const starter = await connect(url, { extensions: [tasks()] });
    const handle = await starter.startTask("report");
    await handle.result();
    const saved = JSON.parse(JSON.stringify(handle));

    await restart("state.db", url);
    expect(await text(client, "pid")).not.toBe(pid);
    const resumed = new EventReader(await client.get({ "last-event-id": String(first.eventId) }));
    expect(await resumed.message()).toMatchObject({ params: { progress: 2 } });
    expect(await resumed.message()).toMatchObject({ params: { progress: 3 } });
    expect(await resumed.message()).toMatchObject({ result: { content: [{ text: "counted" }] } });
    await resumed.cancel();
    expect(await text(client, "granted", { id: grant })).toBe("ann");
    const later = await connect(url, { extensions: [tasks()] });
    expect(await later.task(saved).result()).toBe(`by ${pid}`);
    await later.close();
    await starter.close().catch(() => {});
    expect((await client.send("DELETE", {})).status).toBe(204);
    expect((await client.call("pid")).status).toBe(404);
  });
});

describe.skipIf(node?.installed !== true)("two servers on one SQLite file", () => {
  it("answer each other's sessions and questions, and end them for both", async () => {
    const [here, there] = await Promise.all([start("shared.db"), start("shared.db")]);
    const client = new LegacyClient(here);
    await client.open("2025-11-25", { elicitation: {} });
    const elsewhere = new LegacyClient(there);
    elsewhere.sessionId = client.sessionId;
    const pid = await text(client, "pid");
    expect(await text(elsewhere, "pid")).not.toBe(pid);
    const reader = new EventReader(await client.call("ask"));
    const question = await reader.message();
    const result = { action: "accept", content: { name: "Ada" } };
    expect((await elsewhere.post({ jsonrpc: "2.0", id: question["id"], result })).status).toBe(202);
    expect(await reader.message()).toMatchObject({ result: { content: [{ text: `Ada at ${pid}` }] } });
    expect((await elsewhere.send("DELETE", {})).status).toBe(204);
    expect((await client.call("pid")).status).toBe(404);
  });
});
