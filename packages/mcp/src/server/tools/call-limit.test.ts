import { describe, expect, it } from "vitest";
import { Drive } from "../../../test/server/drive.js";
import { Server } from "../server.js";

const info = { name: "t", version: "1" };

/** A server whose calls wait until they are let go, and clients of it by principal. */
function crowded(limits: { calls: number; callsPerPrincipal?: number; queuedCalls?: number }) {
  const running: { who: string; end: () => void }[] = [];
  const server = new Server(info, { limits }).tool("wait", {}, async (_args, ctx) => {
    await new Promise<void>((end) => running.push({ who: ctx.auth?.key ?? "", end }));
    return "done";
  });
  const call = (key: string) => new Drive(server, { principal: { key } }).call("wait");
  const count = (key: string) => running.filter(({ who }) => who === key).length;
  return { running, call, count };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("the calls of one principal", () => {
  it("never take all places: another's call runs although theirs hang", async () => {
    const { running, call, count } = crowded({ calls: 50, queuedCalls: 100 });
    const greedy = Array.from({ length: 100 }, () => call("mallory"));
    await turn();
    expect(count("mallory")).toBe(45);
    const victim = call("alice");
    await turn();
    expect(count("alice")).toBe(1);
    running.find(({ who }) => who === "alice")?.end();
    expect((await victim).result?.isError).not.toBe(true);
    while (running.length > 0) {
      for (const { end } of running.splice(0)) end();
      await turn();
    }
    expect((await Promise.all(greedy)).map(({ error }) => error)).toEqual(Array(100).fill(undefined));
  });

  it("wait for their own places while others are free, and are refused before they fill the queue", async () => {
    const { running, call, count } = crowded({ calls: 50, callsPerPrincipal: 2, queuedCalls: 10 });
    const waiting = Array.from({ length: 11 }, () => call("mallory"));
    const refused = await call("mallory");
    expect(refused.error?.data).toMatchObject({ limit: "limits.callsPerPrincipal", running: 2, queued: 9 });
    expect(count("mallory")).toBe(2);
    for (let ended = 0; ended < 11; await turn()) {
      for (const { end } of running.splice(0)) {
        end();
        ended++;
      }
    }
    expect(await Promise.all(waiting)).toHaveLength(11);
  });

  it("have every place of a server with few", async () => {
    const { running, call, count } = crowded({ calls: 2 });
    const calls = [call("ada"), call("ada")];
    await turn();
    expect(count("ada")).toBe(2);
    for (const { end } of running) end();
    await Promise.all(calls);
  });
});
