import { connect } from "@parley/mcp";
import { type RegistryEvent, ServerRegistry } from "@parley/mcp/registry";
import { describe, expect, it } from "vitest";
import { namedServer, textOf } from "./named-server.js";

describe("a registry whose servers come and go", () => {
  it("stays right under fifty workers that register, call and unregister a hundred times each", async () => {
    const registry = new ServerRegistry();
    const events = new Map<RegistryEvent["type"], number>();
    registry.on(({ type }) => void events.set(type, (events.get(type) ?? 0) + 1));
    const stable = namedServer("stable");
    registry.register("stable", stable);
    const client = await connect(registry.bind("stable"));
    const worker = async (index: number) => {
      const server = namedServer(`w${index}`);
      for (let round = 0; round < 100; round++) {
        const name = `w${index}-${round}`;
        registry.register(name, server);
        expect(registry.find(name)).toBe(server);
        if (round % 25 === 0) {
          const own = await connect(registry.bind(name));
          expect(textOf(await own.callTool("who"))).toBe(`w${index}`);
          await own.close();
        }
        if (round % 10 === 0) expect(textOf(await client.callTool("who"))).toBe("stable");
        else await undefined;
        expect(registry.unregister(name)).toBe(true);
      }
    };
    await Promise.all(Array.from({ length: 50 }, (_, index) => worker(index)));
    expect(registry.list()).toEqual([{ name: "stable", server: stable, peers: 1, running: 0 }]);
    expect([...events]).toEqual([
      ["registered", 5001],
      ["unregistered", 5000],
    ]);
    await client.close();
  });

  it("keeps nothing of a server that has left", async () => {
    const registry = new ServerRegistry();
    const left: WeakRef<object>[] = [];
    // In a function of its own, so that no variable of this frame keeps the last one.
    const visit = async () => {
      const server = namedServer("guest");
      left.push(new WeakRef(server));
      registry.register("guest", server);
      const binding = registry.bind("guest");
      const client = await connect(binding);
      await client.callTool("who");
      registry.unregister("guest");
      await client.close();
      binding.unbind();
    };
    for (let count = 0; count < 20; count++) await visit();
    await collected(left);
    // The engine may still hold the last one in a register.
    expect(left.filter((ref) => ref.deref() !== undefined).length).toBeLessThanOrEqual(1);
    expect(registry.size).toBe(0);
  });
});

/** Lets the garbage be collected, for a bounded time. */
async function collected(refs: readonly WeakRef<object>[]): Promise<void> {
  const { setFlagsFromString } = await import("node:v8");
  const { runInNewContext } = await import("node:vm");
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  for (let turn = 0; turn < 50 && refs.some((ref) => ref.deref() !== undefined); turn++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    gc();
  }
}
