import { connect, Server } from "@parley/mcp";
import { ServerRegistry } from "@parley/mcp/registry";
import { describe, expect, it } from "vitest";
import { namedServer, textOf } from "./named-server.js";

const INFO = { name: "all", version: "1.0.0" };

describe.each(["2025-11-25", "2026-07-28"] as const)("all servers of a registry as one, in %s", (revision) => {
  it("offers everything under the names, also what comes, changes and goes", async () => {
    const registry = new ServerRegistry();
    registry.register("a", namedServer("a"));
    const client = await connect(registry.asServer(INFO), { revisions: [revision] });
    const names = async () => (await client.allTools()).map(({ name }) => name);
    expect(await names()).toEqual(["a_who", "a_only-a"]);
    const changes = (await client.subscribe({ tools: true }))[Symbol.asyncIterator]();
    registry.register("b", namedServer("b"));
    expect((await changes.next()).value).toMatchObject({ kind: "tools" });
    expect(await names()).toEqual(["a_who", "a_only-a", "b_who", "b_only-b"]);
    expect(textOf(await client.callTool("b_who"))).toBe("b");
    await registry.replace("b", namedServer("c"));
    expect((await changes.next()).value).toMatchObject({ kind: "tools" });
    expect(textOf(await client.callTool("b_who"))).toBe("c");
    registry.unregister("a");
    expect((await changes.next()).value).toMatchObject({ kind: "tools" });
    expect(await names()).toEqual(["b_who", "b_only-c"]);
    expect((await client.allResources()).map(({ uri }) => uri)).toEqual(["b+note://c/a"]);
    await expect(client.callTool("a_who")).rejects.toMatchObject({ kind: "invalid_params" });
    await client.close();
  });
});

describe("all servers of a registry as one", () => {
  it("ends the calls of a server that has left", async () => {
    let finish = () => {};
    let begun = () => {};
    const running = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const slow = new Server({ name: "slow", version: "1" }).tool("wait", {}, async () => {
      begun();
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return "done";
    });
    const registry = new ServerRegistry();
    registry.register("slow", slow);
    const client = await connect(registry.asServer(INFO));
    const call = client.callTool("slow_wait");
    await running;
    registry.unregister("slow");
    finish();
    expect(textOf(await call)).toBe("done");
    await client.close();
  });

  it("leaves out what is no server of this package, and itself", async () => {
    const warnings: string[] = [];
    const registry = new ServerRegistry({ platform: { warn: (text) => void warnings.push(text) } });
    const joint = registry.asServer(INFO);
    registry.register("foreign", { endpoint: () => namedServer("foreign").endpoint() });
    registry.register("self", joint);
    registry.register("a", namedServer("a"));
    const client = await connect(joint);
    expect((await client.allTools()).map(({ name }) => name)).toEqual(["a_who", "a_only-a"]);
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain('the server "foreign" is left out of a joint server');
    expect(warnings[1]).toContain("would contain itself");
    await client.close();
  });

  it("refuses to be part of itself by way of another registry", () => {
    const warnings: string[] = [];
    const platform = { warn: (text: string) => void warnings.push(text) };
    const [one, two] = [new ServerRegistry({ platform }), new ServerRegistry({ platform })];
    one.register("two", two.asServer(INFO));
    two.register("one", one.asServer(INFO));
    expect(warnings).toEqual([expect.stringContaining('the server at "one" would contain itself')]);
  });

  it("forgets its registry when it is closed, and the registry its servers", async () => {
    const registry = new ServerRegistry();
    const server = namedServer("a");
    registry.register("a", server);
    const joint = registry.asServer(INFO);
    await joint.close();
    registry.register("b", namedServer("b"));
    expect(joint.explainCapabilities().find(({ capability }) => capability === "tools")?.on).toBe(false);
    const client = await connect(server);
    expect(textOf(await client.callTool("who"))).toBe("a");
    await client.close();
  });
});
