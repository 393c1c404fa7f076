import { Host, type HostOptions } from "@parley/mcp/host";
import { afterEach, describe, expect, it } from "vitest";
import { seededRandom } from "../../soak/seeded-random.js";
import { eventually, isRunning } from "../../stdio/processes.js";
import { localServer, QUICK, stdioServer } from "../servers/hosted-servers.js";

const opened: Host[] = [];

afterEach(async () => {
  for (const host of opened.splice(0)) await host.close();
});

async function started(options: HostOptions): Promise<Host> {
  const host = new Host({ restarts: QUICK, startWaitMs: 30_000, ...options });
  opened.push(host);
  await host.start();
  return host;
}

describe("a host whose servers are changed at once", () => {
  it("adds a server anew while the old one of that name is still being removed", async () => {
    const host = await started({ servers: { a: await stdioServer("old") } });
    const pid = Number(await host.call("a__pid"));
    const removed = host.remove("a");
    await host.add("a", localServer("new"));
    expect(await host.call("a__whoami")).toBe("new");
    await removed;
    expect(await host.call("a__whoami")).toBe("new");
    expect(host.status()["a"]).toMatchObject({ state: "ready", restarts: 0 });
    expect(await eventually(() => !isRunning(pid))).toBe(true);
  });

  it("removes a server that is still being started", async () => {
    const host = await started({});
    const added = host.add("a", await stdioServer("a", "hangs-until", "/nowhere")).catch((error: unknown) => error);
    await host.remove("a");
    expect(await added).toMatchObject({ kind: "cancelled" });
    expect(host.status()).toEqual({});
    expect(host.tree().children).toEqual([]);
  });

  it("starts a required server once that is added while the host starts", async () => {
    const host = new Host({ restarts: QUICK });
    opened.push(host);
    const starting = host.start();
    await Promise.all([starting, host.add("a", { server: localServer("a"), required: true })]);
    expect(await host.call("a__whoami")).toBe("a");
  });

  it("restarts a server twice at once, and both get an instance", async () => {
    const host = await started({ servers: { a: await stdioServer("a") } });
    const before = Number(await host.call("a__pid"));
    await Promise.all([host.restart("a"), host.restart("a")]);
    const after = Number(await host.call("a__pid"));
    expect(after).not.toBe(before);
    expect(isRunning(before)).toBe(false);
    expect(host.status()["a"]).toMatchObject({ state: "ready", connections: 1 });
  });

  it("tells of lists after a restart only if they differ", async () => {
    const server = localServer("a");
    const host = await started({ servers: { a: server } });
    await new Promise(setImmediate);
    const told: unknown[] = [];
    host.on("catalogue", ({ lists }) => told.push(lists));
    const tools = host.tools();
    await host.restart("a");
    await new Promise(setImmediate);
    expect(told).toEqual([]);
    expect(host.tools()).toBe(tools);
    server.tool("more", {}, () => "");
    expect(await eventually(() => told.length > 0)).toBe(true);
    expect(told).toEqual([["tools"]]);
  });

  it("is consistent after any order of adding, removing and restarting", { timeout: 120_000 }, async () => {
    const names = ["a", "b", "c"];
    for (let seed = 1; seed <= 20; seed++) {
      const random = seededRandom(seed);
      const host = await started({});
      const steps: Promise<unknown>[] = [];
      for (let step = 0; step < 30; step++) {
        const name = names[Math.floor(random() * names.length)] ?? "a";
        const change = [
          () => host.add(name, localServer(`${name}${step}`)),
          () => host.remove(name),
          () => host.restart(name),
        ][Math.floor(random() * 3)];
        // Changes that come too late or too early are refused; what counts is what stands in the end.
        steps.push((async () => change?.())().catch(() => {}));
        if (random() < 0.3) await new Promise(setImmediate);
      }
      await Promise.all(steps);
      const known = Object.keys(host.status());
      await Promise.all(known.map((name) => host.ready(name)));
      for (const name of known)
        expect(await host.call(`${name}__whoami`), `seed ${seed}`).toMatch(new RegExp(`^${name}\\d+$`));
      expect(
        host
          .tree()
          .children.map(({ id, state }) => `${id} ${state}`)
          .sort(),
      ).toEqual(known.map((name) => `${name} running`).sort());
      expect(host.tools().length, `seed ${seed}`).toBe(known.length);
      await host.close();
    }
  });
});
