import { type Client, type ClientOptions, connect, Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const REVISIONS = ["2026-07-28", "2025-11-25"] as const;
type Revision = (typeof REVISIONS)[number];
const number = z.object({ n: z.number() });

function server() {
  return new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 20 })] })
    .tool("asks", { task: "required" }, async (_args, ctx) => `got ${(await ctx.elicit("n?", number)).n}`)
    .tool("asksTwice", { task: "required" }, async (_args, ctx) => {
      const first = ctx.elicit("first?", number);
      await new Promise((resolve) => setTimeout(resolve, 100));
      const second = ctx.elicit("second?", number);
      return `got ${(await first).n} and ${(await second).n}`;
    });
}

async function open(target: Server, revision: Revision, more: ClientOptions = {}): Promise<Client> {
  const client = await connect(target, { revisions: [revision], extensions: [tasks()], ...more });
  cleanups.push(() => client.close());
  return client as unknown as Client;
}

/** An application whose dialogs nobody closes. */
function dialogs() {
  const shown: { message: string; signal: AbortSignal; answer: (n: number) => void }[] = [];
  const onElicit: NonNullable<ClientOptions["onElicit"]> = ({ message }, { signal }) =>
    new Promise((resolve) => {
      shown.push({ message, signal, answer: (n) => resolve({ action: "accept", content: { n } }) });
    });
  return { shown, onElicit };
}

const accept: ClientOptions["onElicit"] = () => ({ action: "accept", content: { n: 5 } });

describe.each(REVISIONS)("a client with an open dialog of a task, %s", (revision) => {
  it("ends its wait and withdraws the dialog when the task is cancelled", async () => {
    const { shown, onElicit } = dialogs();
    const client = await open(server(), revision, { onElicit });
    const handle = await client.startTask("asks");
    const ended = handle.result().catch((error: unknown) => error);
    await expect.poll(() => shown.length).toBe(1);
    await handle.cancel();
    expect(await ended).toMatchObject({ kind: "cancelled" });
    await expect.poll(() => shown[0]?.signal.aborted).toBe(true);
  });

  it("shows questions that come while one is open, and sends each answer when it is given", async () => {
    const { shown, onElicit } = dialogs();
    const client = await open(server(), revision, { onElicit });
    const result = client.call("asksTwice");
    await expect.poll(() => shown.map(({ message }) => message)).toEqual(["first?", "second?"]);
    shown[1]?.answer(2);
    shown[0]?.answer(1);
    expect(await result).toBe("got 1 and 2");
    expect(shown).toHaveLength(2);
  });
});

describe("a client whose open dialog is no longer wanted", () => {
  it("withdraws the dialog when nobody waits any more, and asks again the next who does", async () => {
    const { shown, onElicit } = dialogs();
    const client = await open(server(), "2026-07-28", { onElicit });
    const handle = await client.startTask("asks");
    const impatient = new AbortController();
    const left = handle.result({ signal: impatient.signal }).catch((error: unknown) => error);
    await expect.poll(() => shown.length).toBe(1);
    impatient.abort();
    expect(await left).toMatchObject({ kind: "cancelled" });
    await expect.poll(() => shown[0]?.signal.aborted).toBe(true);
    const result = handle.result();
    await expect.poll(() => shown.length).toBe(2);
    shown[1]?.answer(3);
    expect(await result).toBe("got 3");
  });

  it("TASK26-11: withdraws it when the answer is given elsewhere, and gets the result", async () => {
    const shared = server();
    const { shown, onElicit } = dialogs();
    const first = await open(shared, "2026-07-28", { onElicit });
    const second = await open(shared, "2026-07-28", { onElicit: accept });
    const handle = await first.startTask("asks");
    const result = handle.result();
    await expect.poll(() => shown.length).toBe(1);
    expect(await second.task(handle.toJSON()).result()).toBe("got 5");
    expect(await result).toBe("got 5");
    expect(shown.map(({ signal }) => signal.aborted)).toEqual([true]);
  });
});

describe.each(REVISIONS)("a client that cannot answer what a task asks, %s", (revision) => {
  /** A task with a dialog open at the client that started it, and a client that only follows it. */
  const followed = async () => {
    const shared = server();
    const { shown, onElicit } = dialogs();
    const owner = await open(shared, revision, { onElicit });
    const handle = await owner.startTask("asks");
    const result = handle.result();
    await expect.poll(() => shown.length).toBe(1);
    const found = (await open(shared, revision)).task(handle.toJSON());
    return { result, found, answer: () => shown[0]?.answer(1) };
  };

  it("follows it to its end", async () => {
    const { result, found, answer } = await followed();
    const seen: string[] = [];
    for await (const { status } of found) {
      if (status === "input_required" && !seen.includes(status)) setTimeout(answer, 100);
      seen.push(status);
    }
    expect(seen[0]).toBe("input_required");
    expect(seen.at(-1)).toBe("completed");
    expect(await result).toBe("got 1");
    expect(await found.result()).toBe("got 1");
  });

  it("says so to who waits for the result, and leaves the task alone", async () => {
    const { result, found, answer } = await followed();
    await expect(found.result()).rejects.toMatchObject({
      kind: "capability_missing",
      operation: { method: "tools/call", target: "asks" },
    });
    await expect(found.result()).rejects.toMatchObject({ kind: "capability_missing" });
    answer();
    expect(await result).toBe("got 1");
    expect(await found.result()).toBe("got 1");
  });

  it("fails no iteration with the wait for the result", async () => {
    const { result, found, answer } = await followed();
    const seen: string[] = [];
    const iterated = (async () => {
      for await (const { status } of found) seen.push(status);
    })();
    await expect(found.result()).rejects.toMatchObject({ kind: "capability_missing" });
    answer();
    await iterated;
    expect(seen.at(-1)).toBe("completed");
    expect(await result).toBe("got 1");
  });
});

describe("an application that fails to answer a task", () => {
  const onElicit = () => {
    throw new Error("no dialog");
  };

  it("cancels the task of its own call, which nobody else knows", async () => {
    const client = await open(server(), "2026-07-28", { onElicit });
    const sent: string[] = [];
    client.use(({ method }, next) => {
      sent.push(method);
      return next();
    });
    await expect(client.call("asks")).rejects.toMatchObject({ kind: "misuse", message: /no dialog/ });
    expect(sent).toContain("tasks/cancel");
  });

  it("leaves a task alone that it only follows, and may be asked again", async () => {
    const shared = server();
    const client = await open(shared, "2026-07-28", { onElicit });
    const handle = await client.startTask("asks");
    for (let times = 0; times < 2; times++) {
      await expect(handle.result()).rejects.toMatchObject({ kind: "misuse", message: /no dialog/ });
    }
    const other = await open(shared, "2026-07-28", { onElicit: accept });
    expect(await other.task(handle.toJSON()).result()).toBe("got 5");
    expect(await handle.result()).toBe("got 5");
  });
});
