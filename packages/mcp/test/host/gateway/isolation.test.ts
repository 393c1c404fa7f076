import { connect, McpError, Server, type ServerHandler } from "@parley/mcp";
import { Host } from "@parley/mcp/host";
import { quotas } from "@parley/mcp/limits";
import { serveHttp } from "@parley/mcp/node";
import { afterEach, describe, expect, it } from "vitest";
import { NEWEST_STATEFUL, NEWEST_STATELESS } from "../../../src/protocol/revisions.js";

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const counts = { begun: 0, ended: 0 };

/** Each session has its own number, a tool of its own, and one that tells the others. */
class Numbered implements ServerHandler {
  #number = 0;

  init() {
    counts.begun++;
    this.#number = counts.begun;
  }

  terminate() {
    counts.ended++;
  }

  listTools() {
    return ["number", `only-${this.#number}`].map((name) => ({ name, inputSchema: { type: "object" as const } }));
  }

  callTool(name: string) {
    return `${name} of ${this.#number}`;
  }
}

describe.each([NEWEST_STATEFUL, NEWEST_STATELESS])("clients of %s of a server with `isolation`", (revision) => {
  it("have a connection each, see what it lists there, and end it when they leave", async () => {
    counts.begun = 0;
    counts.ended = 0;
    const server = Server.from(Numbered, { name: "numbered", version: "1" }, { perSession: true });
    const host = new Host({
      servers: {
        s: { server, isolation: "client" },
        shared: new Server({ name: "shared", version: "1" }).tool("both", {}, () => "both"),
      },
      client: { revisions: [NEWEST_STATEFUL] },
    });
    closers.push(() => host.close());
    const front = host.asServer();
    await host.start();
    const open = () => connect(front, { revisions: [revision] });
    const [one, two] = [await open(), await open()];
    const tools = async (client: typeof one) => (await client.allTools()).map(({ name }) => name).sort();
    const [ofOne, ofTwo] = [await tools(one), await tools(two)];
    // The first session is the host's own.
    expect(ofOne).toEqual(["s__number", "s__only-2", "shared__both"]);
    expect(ofTwo).toEqual(["s__number", "s__only-3", "shared__both"]);
    const text = async (client: typeof one, name: string) => (await client.callTool(name as never)).content[0];
    expect(await text(one, "s__only-2")).toMatchObject({ text: "only-2 of 2" });
    expect(await text(two, "s__number")).toMatchObject({ text: "number of 3" });
    expect(await text(one, "shared__both")).toMatchObject({ text: "both" });
    await expect(text(one, "s__only-3")).rejects.toMatchObject({ code: -32602 });
    await expect(text(two, "s__only-1")).rejects.toMatchObject({ code: -32602 });
    expect(counts.ended).toBe(0);
    await one.close();
    await expect.poll(() => counts.ended).toBe(1);
    expect(await text(two, "s__number")).toMatchObject({ text: "number of 3" });
    await two.close();
    await expect.poll(() => counts.ended).toBe(2);
  });
});

it("a client that is not known by its next request leaves no connection behind, neither by calls nor by lists", async () => {
  counts.begun = 0;
  counts.ended = 0;
  const server = Server.from(Numbered, { name: "numbered", version: "1" }, { perSession: true });
  const host = new Host({
    servers: { s: { server, isolation: "client" }, t: { server, isolation: "client" } },
    client: { revisions: [NEWEST_STATEFUL] },
  });
  closers.push(() => host.close());
  const front = host.asServer();
  await host.start();
  const { url, close } = await serveHttp(front, { port: 0 });
  closers.push(() => close());
  const client = await connect(url as string, { revisions: [NEWEST_STATELESS] });
  closers.push(() => client.close());
  for (let round = 0; round < 3; round++) {
    await client.allTools({ cache: false });
    await client.callTool("t__number" as never);
  }
  // Those that stay are the host's own.
  await expect.poll(() => counts.begun - counts.ended).toBe(2);
  expect(counts.begun).toBeGreaterThan(8);
});

it.each(["without", "with"])("a call that middleware refuses leaves no connection behind, %s quotas", async (which) => {
  counts.begun = 0;
  counts.ended = 0;
  const server = Server.from(Numbered, { name: "numbered", version: "1" }, { perSession: true });
  const host = new Host({
    servers: { s: { server, isolation: "client" } },
    client: { revisions: [NEWEST_STATEFUL] },
  });
  closers.push(() => host.close());
  const front = host.asServer(which === "with" ? { server: { quotas: quotas() } } : {});
  front.use((call, next) => {
    if (call.method === "tools/call") throw new McpError("invalid_request", "not you");
    return next();
  });
  await host.start();
  const { url, close } = await serveHttp(front, { port: 0 });
  closers.push(() => close());
  const client = await connect(url as string, { revisions: [NEWEST_STATELESS] });
  closers.push(() => client.close());
  for (let call = 0; call < 3; call++) {
    await expect(client.callTool("s__number" as never)).rejects.toThrow("not you");
  }
  // Quotas look for the rate of the tool.
  expect(counts.begun).toBe(which === "with" ? 4 : 1);
  await expect.poll(() => counts.begun - counts.ended).toBe(1);
});
