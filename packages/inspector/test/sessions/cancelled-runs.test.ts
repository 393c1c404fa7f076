import { type Client, connect, Server } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import type { CallRequest } from "../../src/contract/calls.js";
import type { RunInfo } from "../../src/contract/sessions.js";
import { type DrivenEngine, driveEngine, ERAS, serverTarget } from "../engine/opened-engine.js";

const READ_ONLY = { annotations: { readOnlyHint: true } } as const;

/** A server that answers at once, until its tool `wait` is told to wait for its abort. */
function waitingServer() {
  const seen = { hangs: false, waiting: 0, aborted: 0, clients: [] as Client[] };
  const server = new Server({ name: "waiting", version: "1" }, { onError: () => {}, platform: { warn: () => {} } })
    .tool("read", READ_ONLY, () => "read")
    .tool("wait", READ_ONLY, async (_args, { signal }) => {
      if (!seen.hangs) return "at once";
      seen.waiting += 1;
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
        if (signal.aborted) resolve();
      });
      seen.aborted += 1;
      return "too late";
    });
  const open = async (options: Parameters<ReturnType<typeof serverTarget>["open"]>[0]) => {
    const client = await connect(server, options);
    seen.clients.push(client);
    return client;
  };
  return { seen, target: { ...serverTarget(server), open } };
}

async function connected(
  target: ReturnType<typeof serverTarget>,
  revision?: (typeof ERAS)[number],
): Promise<[driven: DrivenEngine, connection: string]> {
  const driven = driveEngine({ targets: [target] });
  const { connection } = await driven.act("connect", { target: "target-1", revision });
  await driven.reaches(connection, "ready");
  return [driven, connection];
}

async function called(driven: DrivenEngine, connection: string, name: string): Promise<void> {
  const request: CallRequest = { kind: "tool", name, arguments: {} };
  const { call } = await driven.act("call", { connection, request });
  await driven.when(({ calls }) => calls.some(({ id, status }) => id === call && status === "done"));
}

/** Waits until a run is where a test wants it. */
const runWhere = (driven: DrivenEngine, look: (run: RunInfo) => boolean) => driven.when(({ runs }) => runs?.find(look));

describe.each(ERAS)("a replay in %s that is cancelled", (revision) => {
  it("ends the call that is under way, and tells what was done until then", async () => {
    const { seen, target } = waitingServer();
    const [driven, connection] = await connected(target, revision);
    for (const name of ["read", "wait", "read"]) await called(driven, connection, name);
    seen.hangs = true;
    const replayed = driven.act("replay", { session: connection, against: connection, all: false });
    const run = await runWhere(driven, ({ about }) => about === "tools/call wait");
    expect(run).toMatchObject({ kind: "replay", connection });
    await expect.poll(() => seen.waiting).toBe(1);
    await driven.act("cancelRun", { run: run.id });
    const report = await replayed;
    const cancelled = report.calls.find(({ verdict }) => verdict === "cancelled");
    expect(cancelled).toMatchObject({ method: "tools/call", about: "wait", differences: [] });
    expect(report.calls.at(-1)).toBe(cancelled);
    expect(report).toMatchObject({ cancelled: true, notSent: 1, different: 0, skipped: 0 });
    expect(report.calls).toHaveLength(run.call);
    expect(report.same).toBe(run.call - 1);
    expect(run.calls).toBe(run.call + 1);
    await expect.poll(() => seen.aborted).toBe(1);
    expect(seen.clients.map(({ state }) => state)).toEqual(["ready", "closed"]);
    expect(driven.engine.state().runs).toBeUndefined();
    // It is over: the next one may begin.
    seen.hangs = false;
    const again = await driven.act("replay", { session: connection, against: connection, all: false });
    expect(again).not.toHaveProperty("cancelled");
    expect(again.calls).toHaveLength(run.calls);
  });
});

describe("a comparison that is cancelled", () => {
  const input = (connection: string) => ({
    connection,
    request: { kind: "tool", name: "wait", arguments: {} } as const,
    revisions: ERAS,
  });

  it("ends its first call, and does not begin the second", async () => {
    const { seen, target } = waitingServer();
    const [driven, connection] = await connected(target);
    seen.hangs = true;
    const compared = driven.act("compare", input(connection));
    const run = await runWhere(driven, ({ call }) => call === 1);
    expect(run).toMatchObject({ kind: "comparison", connection, calls: 2, about: ERAS[0] });
    await expect.poll(() => seen.waiting).toBe(1);
    await driven.act("cancelRun", { run: run.id });
    const { calls, differences } = await compared;
    expect(calls.map(({ outcome, revision }) => [outcome, revision])).toEqual(ERAS.map((one) => ["cancelled", one]));
    expect(calls[0]?.entries.map(({ summary }) => summary.label)).toContain("tools/call");
    expect(calls[1]?.entries).toEqual([]);
    expect(differences).toEqual([]);
    await expect.poll(() => seen.aborted).toBe(1);
    expect(seen.waiting).toBe(1);
    expect(seen.clients.map(({ state }) => state)).toEqual(["ready", "closed"]);
    expect(driven.engine.state().runs).toBeUndefined();
  });

  it("ends its second call, and keeps the messages of the first", async () => {
    const { seen, target } = waitingServer();
    const [driven, connection] = await connected(target);
    // The server hangs as soon as the second run is announced, before it connects.
    const second = runWhere(driven, ({ call }) => {
      seen.hangs ||= call === 2;
      return call === 2;
    });
    const compared = driven.act("compare", input(connection));
    const run = await second;
    await expect.poll(() => seen.waiting).toBe(1);
    await driven.act("cancelRun", { run: run.id });
    const { calls, differences } = await compared;
    expect(calls.map(({ outcome }) => outcome)).toEqual(["done", "cancelled"]);
    expect(calls[0]?.entries.some(({ text }) => text.includes("at once"))).toBe(true);
    expect(calls[1]?.problem).toContain("cancelled");
    expect(differences).toEqual([]);
    await expect.poll(() => seen.aborted).toBe(1);
    expect(seen.clients.map(({ state }) => state)).toEqual(["ready", "closed", "closed"]);
  });
});

describe("a run that is cancelled while it connects", () => {
  it.each(["heeds", "ignores"])("does not wait for a target that %s it, and leaves no client behind", async (how) => {
    const { seen, target } = waitingServer();
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    let [opened, heard] = [0, false];
    const slow = {
      ...target,
      open: async (options: Parameters<typeof target.open>[0]) => {
        opened += 1;
        if (opened === 1) return target.open(options);
        const { signal, ...others } = options;
        signal?.addEventListener("abort", () => {
          heard = true;
          if (how === "heeds") go();
        });
        await gate;
        return target.open(how === "heeds" ? options : others);
      },
    };
    const [driven, connection] = await connected(slow);
    await called(driven, connection, "read");
    const replayed = driven.act("replay", { session: connection, against: connection, all: false });
    const run = await runWhere(driven, ({ call }) => call === 0);
    await expect.poll(() => opened).toBe(2);
    await driven.act("cancelRun", { run: run.id });
    expect(await replayed).toEqual({ calls: [], same: 0, different: 0, skipped: 0, cancelled: true });
    expect(heard).toBe(true);
    go();
    if (how === "ignores") await expect.poll(() => seen.clients.map(({ state }) => state)).toEqual(["ready", "closed"]);
    else expect(seen.clients.map(({ state }) => state)).toEqual(["ready"]);
  });
});

it("nothing is cancelled that has ended or never was", async () => {
  const { target } = waitingServer();
  const [driven, connection] = await connected(target);
  await called(driven, connection, "read");
  let ended = "";
  const seen = runWhere(driven, ({ id }) => {
    ended = id;
    return true;
  });
  await driven.act("replay", { session: connection, against: connection, all: false });
  await seen;
  for (const run of [ended, "", "__proto__"]) expect(await driven.act("cancelRun", { run })).toEqual({});
  // The page is not to be trusted with its types.
  await expect(driven.act("cancelRun", {} as never)).rejects.toMatchObject({ kind: "invalid_params" });
});
