import { memoryStorage } from "@parley/mcp/storage";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { Drive } from "../../server/drive.js";
import { protectedHandler, type Revision, type SeenAnswer, TaskCaller, taskServer, type Wire } from "./task-callers.js";

const server = taskServer();
const handler = protectedHandler(server);
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const UNKNOWN = "A".repeat(32);
const STATES = { working: "hangs", input_required: "asks", completed: "quick" } as const;
type State = keyof typeof STATES;

const METHODS: [Revision, string, (taskId: string) => Wire][] = [
  ["2026-07-28", "tasks/get", (taskId) => ({ taskId })],
  ["2026-07-28", "tasks/update", (taskId) => ({ taskId, inputResponses: {} })],
  ["2026-07-28", "tasks/update", (taskId) => ({ taskId, inputResponses: { "elicit-1": { action: "decline" } } })],
  ["2026-07-28", "tasks/cancel", (taskId) => ({ taskId })],
  ["2025-11-25", "tasks/get", (taskId) => ({ taskId })],
  ["2025-11-25", "tasks/result", (taskId) => ({ taskId })],
  ["2025-11-25", "tasks/cancel", (taskId) => ({ taskId })],
];
const THIEVES = ["mallory.app", "ada.other"];

const owners: Partial<Record<Revision, TaskCaller>> = {};
const made: Partial<Record<`${Revision} ${State}`, string>> = {};
const callers = new Map<string, TaskCaller>();

async function caller(revision: Revision, token: string): Promise<TaskCaller> {
  const key = `${revision} ${token}`;
  const known = callers.get(key) ?? (await new TaskCaller(handler, revision, token).open());
  callers.set(key, known);
  return known;
}

async function until(owner: TaskCaller, taskId: string, state: string): Promise<void> {
  for (let i = 0; (await owner.status(taskId)) !== state; i++) {
    if (i > 4000) throw new Error(`never ${state}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

beforeAll(async () => {
  for (const revision of ["2026-07-28", "2025-11-25"] as const) {
    const owner = await caller(revision, "ada.app");
    owners[revision] = owner;
    for (const [state, tool] of Object.entries(STATES)) {
      const taskId = await owner.begin(tool);
      await until(owner, taskId, state);
      made[`${revision} ${state as State}`] = taskId;
    }
  }
  return () => handler.close();
});

/** An answer without the id that was asked for. */
function bytes({ status, headers, text }: SeenAnswer, taskId: string): string {
  return JSON.stringify([status, headers, text.replaceAll(taskId, "ID")]);
}

describe("TASK25-17, TASK26-18: a task of another caller", () => {
  const cases = METHODS.flatMap(([revision, method, params], index) =>
    (Object.keys(STATES) as State[]).flatMap((state) =>
      THIEVES.map((thief) => ({ revision, method, params, state, thief, index })),
    ),
  );
  it.each(cases)("$revision $method ($index) of a $state task by $thief is that of an unknown one", async (one) => {
    const { revision, method, params, state, thief } = one;
    const taskId = made[`${revision} ${state}`] ?? "";
    const stranger = await caller(revision, thief);
    const foreign = await stranger.send(method, params(taskId));
    const unknown = await stranger.send(method, params(UNKNOWN));
    expect(foreign.message.error?.code).toBe(-32602);
    expect(bytes(foreign, taskId)).toBe(bytes(unknown, UNKNOWN));
    expect(await owners[revision]?.status(taskId)).toBe(state);
  });

  const anonymous = (["2026-07-28", "2025-11-25"] as const).flatMap((revision) =>
    ["tasks/get", "tasks/cancel", revision === "2025-11-25" ? "tasks/result" : "tasks/update"].map((method) => ({
      revision,
      method,
    })),
  );
  it.each(anonymous)("$revision $method by a caller without a principal is that of an unknown one", async (one) => {
    const { revision, method } = one;
    const taskId = made[`${revision} working`] ?? "";
    const outside = new TaskCaller(handler, revision);
    expect((await outside.send(method, { taskId })).status).toBe(401);
    const capabilities = { elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } };
    const drive = new Drive(server, { revision, capabilities });
    const params = (id: string) => ({ taskId: id, inputResponses: {} });
    const foreign = await drive.once(method, params(taskId));
    expect(foreign.error).toEqual((await drive.once(method, params(UNKNOWN))).error);
    expect(foreign.error?.code).toBe(-32602);
    expect(await owners[revision]?.status(taskId)).toBe("working");
  });

  it.each(["2026-07-28", "2025-11-25"] as const)("%s: a principal does not get one of nobody", async (revision) => {
    const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
    const drive = new Drive(server, { revision, capabilities });
    const { result } = await drive.once("tools/call", { name: "hangs", task: {} });
    const { taskId } = (result?.["task"] ?? result) as { taskId: string };
    expect((await drive.once("tasks/get", { taskId })).result).toMatchObject({ status: "working" });
    const stranger = await caller(revision, "mallory.app");
    const foreign = await stranger.send("tasks/get", { taskId });
    expect(bytes(foreign, taskId)).toBe(bytes(await stranger.send("tasks/get", { taskId: UNKNOWN }), UNKNOWN));
  });

  it.each(["2026-07-28", "2025-11-25"] as const)("%s: its owner gets it from another session too", async (revision) => {
    const again = await new TaskCaller(handler, revision, "ada.app").open();
    expect(await again.status(made[`${revision} input_required`] ?? "")).toBe("input_required");
  });

  it.each(THIEVES)("TASK26-15: %s hears nothing of it", async (thief) => {
    const taskId = made["2026-07-28 working"] ?? "";
    const stranger = await caller("2026-07-28", thief);
    const listening = (ids: string[]) => stranger.heard("subscriptions/listen", { notifications: { taskIds: ids } });
    const heard = listening([taskId, "__proto__", "constructor", UNKNOWN]);
    const owner = owners["2026-07-28"];
    const other = await owner?.begin("hangs");
    await owner?.send("tasks/cancel", { taskId: other ?? "" });
    const text = await heard;
    expect(text).not.toContain(taskId);
    expect(text).toContain('"notifications/subscriptions/acknowledged"');
    expect(text).not.toContain("notifications/tasks");
    const own = await owner?.heard("subscriptions/listen", { notifications: { taskIds: [taskId] } });
    expect(own).toContain(taskId);
  });

  it("TASK25-15: only its creator is told its status", async () => {
    const principal = (key: string) => ({ revision: "2025-11-25" as const, principal: { key }, capabilities: {} });
    const [ada, mallory, again] = ["ada", "mallory", "ada"].map((key) => new Drive(server, principal(key)));
    const { result } = (await ada?.once("tools/call", { name: "hangs", task: {} })) ?? {};
    const { taskId } = (result?.["task"] ?? {}) as { taskId: string };
    await ada?.once("tasks/cancel", { taskId });
    expect(ada?.said).toContainEqual(expect.objectContaining({ method: "notifications/tasks/status" }));
    expect([mallory?.said, again?.said]).toEqual([[], []]);
  });
});

describe("TASK25-13: the list of tasks", () => {
  it("shows each caller its own, and takes no cursor of another", async () => {
    const ada = await caller("2025-11-25", "ada.lists");
    const mallory = await caller("2025-11-25", "mallory.lists");
    const own: string[] = [];
    for (let i = 0; i < 5; i++) own.push(await ada.begin("quick"));
    for (let i = 0; i < 3; i++) await mallory.begin("quick");
    const listed: unknown[] = [];
    let cursor: unknown;
    do {
      const { result } = (await ada.send("tasks/list", cursor === undefined ? {} : { cursor })).message;
      listed.push(...((result?.["tasks"] ?? []) as Wire[]).map(({ taskId }) => taskId));
      cursor = result?.["nextCursor"];
    } while (cursor !== undefined);
    expect(listed).toEqual(own);
    const { nextCursor } = (await ada.send("tasks/list")).message.result as { nextCursor: string };
    const foreign = await mallory.send("tasks/list", { cursor: nextCursor });
    const forged = await mallory.send("tasks/list", { cursor: "forged" });
    expect(foreign.message.error?.code).toBe(-32602);
    expect(bytes(foreign, "")).toBe(bytes(forged, ""));
    const [payload = "", mac = ""] = nextCursor.split(".");
    for (const wrong of [`${payload}.${mac.slice(1)}A`, payload, `.${mac}`, `${payload}.`, "..", "", 5, null, {}, []]) {
      expect((await ada.send("tasks/list", { cursor: wrong })).message.error?.code).toBe(-32602);
    }
  });

  it("is empty for another session of callers without a principal", async () => {
    const [first, second] = [1, 2].map(() => new Drive(server, { revision: "2025-11-25" }));
    await first?.once("tools/call", { name: "hangs", task: {} });
    expect((await first?.once("tasks/list"))?.result).toMatchObject({ tasks: [{ status: "working" }] });
    expect((await second?.once("tasks/list"))?.result).toEqual({ tasks: [] });
  });

  it("refuses the cursor of a page whose last task is gone, in place of beginning again", async () => {
    let time = 0;
    const now = () => time;
    const timed = taskServer(memoryStorage({ clock: { now } }), undefined, { now, monotonic: now });
    const eve = await new TaskCaller(protectedHandler(timed), "2025-11-25", "eve.lists").open();
    for (const ttl of [60_000, 100, 60_000]) await eve.send("tools/call", { name: "quick", task: { ttl } });
    const { nextCursor } = (await eve.send("tasks/list")).message.result as { nextCursor: string };
    expect((await eve.send("tasks/list", { cursor: nextCursor })).message.result?.["tasks"]).toHaveLength(1);
    time = 150;
    expect((await eve.send("tasks/list", { cursor: nextCursor })).message.error?.code).toBe(-32602);
  });
});

describe("what is stored of a task", () => {
  it("TASK25-17: has neither credentials nor claims, and its ids have no pattern", async () => {
    const storage = memoryStorage();
    const written: string[] = [];
    const kv = new Proxy(storage.kv, {
      get(target, name) {
        const member = Reflect.get(target, name) as (...args: unknown[]) => unknown;
        if (name !== "set") return member.bind(target);
        return (key: string, value: string, ...rest: unknown[]) => {
          written.push(`${key} ${value}`);
          return member.call(target, key, value, ...rest);
        };
      },
    });
    const kept = taskServer({ ...storage, kv }, "a secret of 32 characters or more");
    const serving = protectedHandler(kept);
    cleanups.push(() => serving.close());
    const ids: string[] = [];
    for (const revision of ["2026-07-28", "2025-11-25"] as const) {
      const owner = await new TaskCaller(serving, revision, "ada.app").open();
      for (let i = 0; i < 40; i++) ids.push(await owner.begin(i % 2 === 0 ? "hangs" : "quick"));
    }
    const all = written.filter((text) => ids.some((id) => text.includes(id))).join("\n");
    expect(all).toContain("issuer|ada|app");
    for (const secret of ["claim of ada", "Bearer", "ada.app", "authorization"]) expect(all).not.toContain(secret);
    for (const id of ids) expect(Buffer.from(id, "base64url").length).toBeGreaterThanOrEqual(16);
    expect(new Set(ids).size).toBe(ids.length);
    // Each place takes many values: of 64 possible ones, 80 ids show about 46.
    for (let at = 0; at < 32; at++) expect(new Set(ids.map((id) => id[at])).size).toBeGreaterThan(25);
  });
});
