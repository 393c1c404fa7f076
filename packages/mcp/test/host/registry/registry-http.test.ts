import { createServer, type Server as NodeServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect, McpError, Server } from "@parley/mcp";
import { resourceServer } from "@parley/mcp/auth";
import { fetchHandler, type HttpServerOptions } from "@parley/mcp/http";
import { nodeHandler } from "@parley/mcp/node";
import { type RegistryHttpOptions, ServerRegistry } from "@parley/mcp/registry";
import { memoryStorage } from "@parley/mcp/storage";
import { afterEach, describe, expect, it } from "vitest";
import { LegacyClient } from "../../http/legacy-client.js";
import { namedServer, textOf } from "./named-server.js";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function registryOf(...names: string[]): ServerRegistry {
  const registry = new ServerRegistry();
  for (const name of names) registry.register(name, namedServer(name));
  return registry;
}

/** Serves a registry with `node:http`; returns the address. */
async function overNode(registry: ServerRegistry, options?: RegistryHttpOptions): Promise<string> {
  const handler = registry.handler(nodeHandler, options);
  const server: NodeServer = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(
    () => new Promise((resolve) => server.close(resolve)),
    () => handler.close(),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function whoIs(url: string, options: Parameters<typeof connect>[1] = {}): Promise<string | undefined> {
  const client = await connect(url, options);
  try {
    return textOf(await client.callTool("who"));
  } finally {
    await client.close();
  }
}

describe("one HTTP handler for many servers", () => {
  it("serves each by its path, in both eras, also one that comes later", async () => {
    const registry = registryOf("a", "b");
    const url = await overNode(registry);
    expect(await whoIs(`${url}/mcp/a`)).toBe("a");
    expect(await whoIs(`${url}/mcp/b`, { revisions: ["2025-11-25"] })).toBe("b");
    registry.register("c-d", namedServer("c"));
    expect(await whoIs(`${url}/mcp/c-d?x=1`)).toBe("c");
  });

  it.each(["/mcp/c", "/mcp/", "/mcp", "/mcp/a/b", "/mcp/%61", "/other/a", "/mcp/__proto__", "/"])(
    "answers %s with 404",
    async (path) => {
      const url = await overNode(registryOf("a"));
      const response = await new LegacyClient(`${url}${path}`).open();
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({
        error: { message: "the request does not name a registered server" },
      });
    },
  );

  it("serves a name with capitals by the host, which has none", async () => {
    const handler = registryOf("a", "Files").handler(fetchHandler, {
      by: { host: "localhost" },
      http: { allowedHosts: ["*"], allowUnauthenticated: true },
    });
    ends.push(() => handler.close());
    const fetchOf = (request: Request) => handler(request);
    for (const [host, status] of Object.entries({ files: 200, FILES: 200, file: 404, "a.files": 404 })) {
      const client = new LegacyClient(`http://${host}.localhost:8080/`, { fetch: fetchOf });
      expect([host, (await client.open()).status]).toEqual([host, status]);
    }
  });

  it("opens sessions by what the server of a name needs at the moment", async () => {
    const registry = new ServerRegistry();
    const stateless = () => new Server({ name: "s", version: "1" }).tool("add", { mode: "stateless" }, () => "3");
    registry.register("a", stateless());
    const url = await overNode(registry, { http: { sessions: "auto" } });
    const without = new LegacyClient(`${url}/mcp/a`);
    await without.open();
    expect(without.sessionId).toBeUndefined();
    await registry.replace("a", namedServer("b"));
    const within = new LegacyClient(`${url}/mcp/a`);
    await within.open();
    expect(within.sessionId).toBeDefined();
    for (const client of [without, within]) expect((await client.call("who")).status).toBe(200);
  });

  it("serves by a header, and by the host", async () => {
    const registry = registryOf("a", "b");
    const byHeader = await overNode(registry, { by: { header: "X-MCP-Server" } });
    expect(await whoIs(byHeader, { headers: { "x-mcp-server": "b" } })).toBe("b");
    expect((await new LegacyClient(byHeader).open()).status).toBe(404);
    const byHost = registry.handler(fetchHandler, {
      by: { host: "localhost" },
      http: { allowedHosts: ["*"], allowUnauthenticated: true },
    });
    ends.push(() => byHost.close());
    const fetchOf = (request: Request) => byHost(request);
    const client = new LegacyClient("http://b.localhost:8080/any", { fetch: fetchOf });
    await client.open();
    expect(await (await client.call("who")).text()).toContain('"b"');
    expect((await new LegacyClient("http://c.localhost/", { fetch: fetchOf }).open()).status).toBe(404);
  });

  it("keeps the sessions of one server from another", async () => {
    const url = await overNode(registryOf("a", "b"));
    const client = new LegacyClient(`${url}/mcp/a`);
    await client.open();
    const thief = new LegacyClient(`${url}/mcp/b`);
    thief.sessionId = client.sessionId;
    expect((await thief.call("who")).status).toBe(404);
    expect((await client.call("who")).status).toBe(200);
  });

  it("keeps them from another also where both use one storage, and shares them among nodes", async () => {
    const storage = memoryStorage();
    const node = () => {
      const registry = new ServerRegistry();
      for (const name of ["a", "b"]) registry.register(name, namedServer(name, { storage }));
      return overNode(registry);
    };
    const [one, two] = [await node(), await node()];
    const client = new LegacyClient(`${one}/mcp/a`);
    await client.open();
    const moved = (url: string) => {
      const same = new LegacyClient(url);
      same.sessionId = client.sessionId;
      return same.call("who");
    };
    expect((await moved(`${one}/mcp/b`)).status).toBe(404);
    expect((await moved(`${two}/mcp/b`)).status).toBe(404);
    expect(await (await moved(`${two}/mcp/a`)).text()).toContain('"text":"a"');
  });

  it("keeps sessions when their server is replaced, and ends them when its name is taken away", async () => {
    const registry = registryOf("a");
    const url = await overNode(registry);
    const client = new LegacyClient(`${url}/mcp/a`);
    await client.open();
    await registry.replace("a", namedServer("next"));
    expect(await (await client.call("who")).text()).toContain('"next"');
    registry.unregister("a");
    expect((await client.call("who")).status).toBe(404);
    registry.register("a", namedServer("again"));
    expect((await client.call("who")).status).toBe(404);
    const other = new LegacyClient(`${url}/mcp/a`);
    await other.open();
    expect(await (await other.call("who")).text()).toContain('"again"');
  });

  it("checks Host and Origin for every name, also for one that nobody has", async () => {
    const url = await overNode(registryOf("a"));
    for (const path of ["/mcp/a", "/mcp/nobody"]) {
      const headers = { origin: "https://evil.example" };
      expect((await new LegacyClient(`${url}${path}`, { headers }).open()).status).toBe(403);
    }
  });

  it("gives each server its own metadata of authorization", async () => {
    const registry = registryOf("a", "b");
    const http = (name: string): HttpServerOptions => ({
      auth: resourceServer({ resource: `https://shop.example/mcp/${name}`, issuer: `https://login.example/${name}` }),
      allowedHosts: ["127.0.0.1"],
    });
    const url = await overNode(registry, { http });
    for (const name of ["b", "a"]) {
      const response = await fetch(`${url}/.well-known/oauth-protected-resource/mcp/${name}`);
      expect(await response.json()).toMatchObject({
        resource: `https://shop.example/mcp/${name}`,
        authorization_servers: [`https://login.example/${name}`],
      });
      const refused = await new LegacyClient(`${url}/mcp/${name}`).open();
      expect(refused.status).toBe(401);
      expect(refused.headers.get("www-authenticate")).toContain(`oauth-protected-resource/mcp/${name}`);
    }
    expect((await fetch(`${url}/.well-known/oauth-protected-resource/mcp/c`)).status).not.toBe(200);
  });

  it("refuses one server whose options fail, says so, and serves the others", async () => {
    const warnings: string[] = [];
    const registry = new ServerRegistry({ platform: { warn: (text) => void warnings.push(text) } });
    for (const name of ["a", "b"]) registry.register(name, namedServer(name));
    const http = (name: string) => {
      if (name === "a") throw new Error("oops");
      return {};
    };
    const url = await overNode(registry, { http });
    expect((await new LegacyClient(`${url}/mcp/a`).open()).status).toBe(503);
    expect(await whoIs(`${url}/mcp/b`)).toBe("b");
    expect(warnings).toEqual(['the server "a" cannot be served over HTTP: oops']);
  });

  it("serves nothing after it was closed, and closes no server", async () => {
    const registry = registryOf("a");
    const handler = registry.handler(fetchHandler);
    const send = (request: Request) => handler(request);
    const client = new LegacyClient("http://localhost/mcp/a", { fetch: send });
    await client.open();
    await handler.close();
    await handler.closed;
    expect((await client.call("who")).status).toBeGreaterThanOrEqual(400);
    expect((await new LegacyClient("http://localhost/mcp/a", { fetch: send }).open()).status).toBe(503);
    const direct = await connect(registry.bind("a"));
    expect(textOf(await direct.callTool("who"))).toBe("a");
    await direct.close();
  });

  it.each([{ path: "mcp" }, { path: "/mcp" }, { header: "a b" }, { host: "" }, {}])("refuses to route by %o", (by) => {
    expect(() => registryOf("a").handler(fetchHandler, { by: by as never })).toThrow("`by` is");
  });

  it("isolates a hundred servers behind one handler", async () => {
    const names = Array.from({ length: 100 }, (_, index) => `server-${index}`);
    const registry = registryOf(...names);
    const broken = registry.find("server-13") as ReturnType<typeof namedServer>;
    broken.use(() => {
      throw new McpError("internal_error", "broken");
    });
    const url = await overNode(registry);
    const outcomes = await Promise.all(
      names.map(async (name) => {
        const client = new LegacyClient(`${url}/mcp/${name}`);
        await client.open();
        const texts = await Promise.all([1, 2, 3].map(async () => (await client.call("who")).text()));
        return texts.every((text) => text.includes(`"text":"${name}"`));
      }),
    );
    expect(outcomes.flatMap((right, index) => (right ? [] : [names[index]]))).toEqual(["server-13"]);
    const sessions = registry.list().map(({ peers }) => peers);
    expect(sessions).toEqual(names.map((name) => (name === "server-13" ? 0 : 1)));
  });
});
