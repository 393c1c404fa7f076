import { connect, McpError, Server } from "@parley/mcp";
import { type RegistryEvent, ServerRegistry } from "@parley/mcp/registry";
import { describe, expect, it } from "vitest";
import { namedServer } from "./named-server.js";

describe("a registry of servers", () => {
  it("finds and lists servers by name, in the order of their registration", () => {
    const registry = new ServerRegistry();
    const [a, b] = [namedServer("a"), namedServer("b")];
    registry.register("b", b);
    registry.register("a", a);
    expect(registry.find("a")).toBe(a);
    expect(registry.find("c")).toBeUndefined();
    expect(registry.list()).toEqual([
      { name: "b", server: b, peers: 0, running: 0 },
      { name: "a", server: a, peers: 0, running: 0 },
    ]);
    expect(registry.unregister("b")).toBe(true);
    expect(registry.unregister("b")).toBe(false);
    expect(registry.size).toBe(1);
  });

  it.each(["", "a/b", "a b", ".hidden", "trailing-", "1st", "a_b", "ü", "x".repeat(33), "__proto__"])(
    "refuses the name %j",
    (name) => {
      expect(() => new ServerRegistry().register(name, namedServer("a"))).toThrow("is not a valid server name");
    },
  );

  it("refuses a name that is taken, more servers than the limit, and what is no server", () => {
    const registry = new ServerRegistry({ maxServers: 1 });
    registry.register("a", namedServer("a"));
    for (const name of ["a", "A"]) {
      expect(() => registry.register(name, namedServer("a"))).toThrow(`the name "${name}" is taken`);
    }
    expect(() => registry.register("b", namedServer("b"))).toThrow("`maxServers`");
    registry.unregister("a");
    expect(() => registry.register("b", {} as Server)).toThrow(McpError);
    expect(registry.size).toBe(0);
  });

  it("helps with a name that nobody has", () => {
    const registry = new ServerRegistry();
    registry.register("files", namedServer("files"));
    expect(() => registry.bind("fles")).toThrow('no server is registered as "fles"; did you mean "files"?');
  });

  it("tells what happens, also to those behind a listener that throws", async () => {
    const warnings: string[] = [];
    const registry = new ServerRegistry({ platform: { warn: (text) => void warnings.push(text) } });
    const events: RegistryEvent[] = [];
    registry.on(() => {
      throw new Error("oops");
    });
    const stop = registry.on((event) => events.push(event));
    const last = namedServer("a");
    registry.register("a", namedServer("a"));
    await registry.replace("a", last);
    registry.unregister("a");
    registry.register("a", last);
    await last.close();
    stop();
    registry.register("b", namedServer("b"));
    expect(events.map(({ type }) => type)).toEqual(["registered", "replaced", "unregistered", "registered", "closed"]);
    expect(warnings).toHaveLength(6);
    expect(warnings[0]).toBe("`on` failed: oops");
  });

  it("frees the names of a server that is closed, in every registry, and of no other", async () => {
    const [one, two] = [new ServerRegistry(), new ServerRegistry()];
    const server = namedServer("a");
    for (const registry of [one, two]) {
      registry.register("a", server);
      registry.register("alias", server);
      registry.register("other", namedServer("b"));
    }
    two.unregister("alias");
    two.register("alias", namedServer("c"));
    await server.close();
    expect(one.list().map(({ name }) => name)).toEqual(["other"]);
    expect(two.list().map(({ name }) => name)).toEqual(["other", "alias"]);
  });

  it("knows who offers what, whatever becomes of one server", async () => {
    const registry = new ServerRegistry();
    registry.register("a", namedServer("a"));
    registry.register(
      "b",
      namedServer("b").resourceTemplate("file:///{name}", {}, () => ""),
    );
    const hanging = new Server({ name: "hangs", version: "1" }).tool("who", {}, () => "");
    hanging.use((call, next) => (call.method === "tools/list" ? new Promise(() => {}) : next()));
    registry.register("hangs", hanging);
    const offers = await registry.offers({ timeoutMs: 100 });
    expect(offers.slice(0, 2)).toEqual([
      { name: "a", tools: ["who", "only-a"], prompts: ["greet"], resources: ["note://a/a"], templates: [] },
      {
        name: "b",
        tools: ["who", "only-b"],
        prompts: ["greet"],
        resources: ["note://b/a"],
        templates: ["file:///{name}"],
      },
    ]);
    expect(offers[2]).toMatchObject({ name: "hangs", tools: [], error: { kind: "timeout" } });
    registry.unregister("hangs");
    expect(await registry.offering({ tool: "who" })).toEqual(["a", "b"]);
    expect(await registry.offering({ tool: "only-a" })).toEqual(["a"]);
    expect(await registry.offering({ resource: "file:///x" })).toEqual(["b"]);
    expect(await registry.offering({ prompt: "greet", tool: "only-b" })).toEqual(["b"]);
    expect(await registry.offering({})).toEqual([]);
  });

  it("counts who is connected by a name", async () => {
    const registry = new ServerRegistry();
    registry.register("a", namedServer("a"));
    const client = await connect(registry.bind("a"));
    expect(registry.list()[0]?.peers).toBe(1);
    await client.close();
    expect(registry.list()[0]?.peers).toBe(0);
  });
});
