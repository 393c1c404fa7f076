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
let running: ChildProcess | undefined;

beforeAll(async () => {
  program = await bundleFixture(new URL("./fixtures/restarted-server.ts", import.meta.url));
});
afterAll(() => {
  running?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function start(port = "0"): Promise<string> {
  const args = ["--disable-warning=ExperimentalWarning", program, join(folder, "state.db"), port];
  running = spawn(node?.binary ?? "", args, { stdio: ["ignore", "pipe", "inherit"] });
  if (running.stdout === null) throw new Error("its output is a pipe");
  const { value } = await createInterface({ input: running.stdout })[Symbol.asyncIterator]().next();
  return String(value).replace("listening ", "");
}

async function restart(url: string): Promise<void> {
  const ended = once(running ?? process, "exit");
  running?.kill("SIGKILL");
  await ended;
  expect(await start(new URL(url).port)).toBe(url);
}

async function text(client: LegacyClient, tool: string, args = {}): Promise<string> {
  const answer = (await (await client.call(tool, args)).json()) as { result: { content: { text: string }[] } };
  return answer.result.content[0]?.text ?? "";
}

describe.skipIf(node?.installed !== true)("a server on a SQLite file that is killed and started again", () => {
  it("goes on with its sessions, streams, tasks and grants", async () => {
    const url = await start();
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

    await restart(url);
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
