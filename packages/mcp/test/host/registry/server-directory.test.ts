import { type Client, connect, Server } from "@parley/mcp";
import { fetchHandler } from "@parley/mcp/http";
import {
  bindServer,
  directoryHandler,
  directoryServer,
  type RegistryEvent,
  type ServerDirectory,
  ServerRegistry,
} from "@parley/mcp/registry";
import { describe, expect, it } from "vitest";

/** A registry of somebody else: a map that announces what is put into it. */
class OwnDirectory implements ServerDirectory {
  readonly #servers = new Map<string, Server>();
  readonly #listeners = new Set<(event: RegistryEvent) => void>();

  put(name: string, server: Server | undefined): void {
    const had = this.#servers.has(name);
    if (server === undefined) this.#servers.delete(name);
    else this.#servers.set(name, server);
    const type = server === undefined ? "unregistered" : had ? "replaced" : "registered";
    for (const listener of this.#listeners) listener({ type, name });
  }

  find(name: string) {
    return this.#servers.get(name);
  }

  list() {
    return [...this.#servers.keys()].map((name) => ({ name }));
  }

  on(listener: (event: RegistryEvent) => void) {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  get listeners(): number {
    return this.#listeners.size;
  }
}

const server = (name: string, said = name) =>
  new Server({ name, version: "1" }).tool("who", {}, () => said) as unknown as Server;
const who = (client: Client, tool = "who") => client.call(tool as never);

describe("a directory of servers in place of a registry", () => {
  it("binds a name, whose server can be replaced while clients are connected", async () => {
    const directory = new OwnDirectory();
    directory.put("a", server("a", "one"));
    directory.put("b", server("b", "three"));
    const binding = bindServer(directory, "a");
    await using client = (await connect(binding)) as Client;
    expect(await who(client)).toBe("one");
    directory.put("a", server("a", "two"));
    expect(await who(client)).toBe("two");
    directory.put("a", undefined);
    await expect(who(client)).rejects.toThrow();
    await binding.rebind("b");
    expect(await who(client)).toBe("three");
    binding.unbind();
    expect(directory.listeners).toBe(0);
  });

  it("is served by one HTTP handler, as it is now and later", async () => {
    const directory = new OwnDirectory();
    const handler = directoryHandler(directory, fetchHandler);
    const fetch = (url: string | URL | Request, init?: RequestInit) => {
      const request = new Request(url, init);
      request.headers.set("host", "localhost");
      return Promise.resolve(handler(request)) as Promise<Response>;
    };
    directory.put("late", server("late"));
    await using client = (await connect("http://localhost/mcp/late", { fetch } as never)) as Client;
    expect(await who(client)).toBe("late");
    await handler.close();
    expect(directory.listeners).toBe(0);
  });

  it("is one server with all tools", async () => {
    const directory = new OwnDirectory();
    directory.put("a", server("a"));
    const all = directoryServer(directory, { name: "all", version: "1" });
    await using client = (await connect(all)) as Client;
    directory.put("b", server("b"));
    expect((await client.allTools({ cache: false })).map(({ name }) => name)).toEqual(["a_who", "b_who"]);
    expect(await who(client, "b_who")).toBe("b");
    await all.close();
    expect(directory.listeners).toBe(0);
  });

  it("may be a `ServerRegistry`, and nothing less than the three functions", async () => {
    const registry = new ServerRegistry();
    registry.register("a", server("a"));
    await using client = (await connect(bindServer(registry, "a"))) as Client;
    expect(await who(client)).toBe("a");
    const wrong = { kind: "invalid_definition", message: expect.stringContaining("list, on") };
    for (const use of [bindServer, directoryHandler, directoryServer] as ((...args: unknown[]) => unknown)[]) {
      expect(() => use({ find: () => undefined }, "a")).toThrow(expect.objectContaining(wrong));
    }
    expect(() => bindServer(registry, "b")).toThrow(/has no server "b"/);
  });
});
