import { connect, Server } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { type ChaosOptions, type ChaosTransport, chaosTransport } from "./chaos-transport.js";

function counting() {
  const ran: number[] = [];
  const input = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const;
  const server = new Server({ name: "counts", version: "1" }).tool("count", { input }, ({ n }, ctx) => {
    ran.push(n);
    for (let step = 1; step <= 3; step++) ctx.progress(step);
    return String(n);
  });
  return { server, ran };
}

describe.each(["2025-11-25", "2026-07-28"] as const)("the chaos transport in %s", (revision) => {
  const open = (server: Server, options: ChaosOptions, resend?: "always") =>
    connect(
      { makeTransport: () => chaosTransport(server, options) },
      { revisions: [revision], resend: resend ?? "never" },
    );

  it("delivers everything in order when it only delays", async () => {
    const { server } = counting();
    const client = await open(server as unknown as Server, { delayMs: [0, 3], seed: 7 });
    const heard: number[][] = [];
    const values = await Promise.all(
      Array.from({ length: 20 }, (_, n) => {
        const mine: number[] = [];
        heard.push(mine);
        return client.call("count", { n }, { onProgress: ({ progress }) => mine.push(progress) });
      }),
    );
    expect(values).toEqual(Array.from({ length: 20 }, (_, n) => String(n)));
    expect(heard.every((steps) => steps.join() === "1,2,3")).toBe(true);
    await client.close();
  });

  it("loses requests before, and answers after, the server has run them", async () => {
    const { server, ran } = counting();
    const plain = await open(server as unknown as Server, {});
    const { prior } = plain;
    await plain.close();
    const lossy = async (options: ChaosOptions) => {
      ran.length = 0;
      const target = { makeTransport: () => chaosTransport(server, options) };
      const client = await connect(target, { revisions: [revision], prior, resend: "never" }).catch((error) => error);
      if (client instanceof Error) return "no connection";
      const outcome = await client.call("count", { n: 1 }).catch((error: { kind: string }) => error.kind);
      await client.close();
      return `${outcome} after ${ran.length} runs`;
    };
    // A handshake can be lost as well; where none is needed the call is the first thing to be lost.
    const expected = (runs: number) =>
      revision === "2026-07-28" ? `connection_closed after ${runs} runs` : "no connection";
    expect(await lossy({ loseRequests: 1 })).toBe(expected(0));
    expect(await lossy({ loseAnswers: 1 })).toBe(expected(1));
  });

  it("is cut by hand or after some requests, and a client comes back by itself", async () => {
    const { server } = counting();
    const made: ChaosTransport[] = [];
    const makeTransport = () => {
      const transport = chaosTransport(server, {});
      made.push(transport);
      return transport;
    };
    const client = await connect({ makeTransport }, { revisions: [revision], resend: "always" });
    await client.call("count", { n: 1 });
    made[0]?.cut();
    expect(client.state).toBe("recovering");
    expect(await client.call("count", { n: 2 })).toBe("2");
    expect(made).toHaveLength(2);
    await client.close();
  });

  it("lets answers overtake each other, each with its own result", async () => {
    const { server } = counting();
    const client = await open(server as unknown as Server, { reorderAnswers: 0.5, seed: 5 });
    const order: string[] = [];
    await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        expect(await client.call("count", { n })).toBe(String(n));
        order.push(String(n));
      }),
    );
    expect(order).toHaveLength(20);
    expect(order).not.toEqual(Array.from({ length: 20 }, (_, n) => String(n)));
    await client.close();
  });

  it("damages messages: a fault, and a call that only its deadline ends", async () => {
    const { server } = counting();
    const options: ChaosOptions = {};
    const client = await open(server as unknown as Server, options);
    const faults: string[] = [];
    client.on("fault", (error) => faults.push(error.message));
    options.corrupt = 1;
    const late = client.call("count", { n: 1 }, { onProgress: () => {}, timeouts: { idleMs: 50 } });
    await expect(late).rejects.toMatchObject({ kind: "timeout" });
    expect(faults).toHaveLength(4);
    options.corrupt = 0;
    expect(await client.call("count", { n: 2 })).toBe("2");
    await client.close();
  });

  it("goes silent without a word, by hand or after some requests", async () => {
    const { server, ran } = counting();
    const transport = chaosTransport(server, {});
    const client = await connect(transport, { revisions: [revision] });
    await client.call("count", { n: 1 });
    transport.halfOpen();
    const silent = client.call("count", { n: 2 }, { timeouts: { idleMs: 50 } });
    await expect(silent).rejects.toMatchObject({ kind: "timeout" });
    expect(ran).toEqual([1]);
    expect(client.state).toBe("ready");
    await client.close();
    const counted = await open(server as unknown as Server, { halfOpenAfter: 2 });
    await counted.call("count", { n: 3 });
    await expect(counted.call("count", { n: 4 }, { timeouts: { idleMs: 50 } })).rejects.toMatchObject({
      kind: "timeout",
    });
    await counted.close();
  });

  it("has the same luck with the same seed", async () => {
    const luck = async (seed: number) => {
      const { server } = counting();
      const transport = chaosTransport(server, { seed, repeatNotifications: 0.5, loseNotifications: 0.3 });
      const client = await connect(transport, { revisions: [revision] });
      const steps: number[] = [];
      for (let n = 0; n < 10; n++) await client.call("count", { n }, { onProgress: (p) => steps.push(p.progress) });
      await client.close();
      return steps.join();
    };
    expect(await luck(3)).toBe(await luck(3));
    expect(await luck(3)).not.toBe(await luck(4));
  });
});
