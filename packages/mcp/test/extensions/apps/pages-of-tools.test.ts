import { type Client, connect, McpError, resource, Server, tool } from "@parley/mcp";
import { apps } from "@parley/mcp/apps";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, describe, expect, it } from "vitest";
import { platform } from "../../../src/node/platform.js";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const extended = () => new Server({ name: "weather", version: "1" }, { extensions: [tasks(), apps()] });
const page = (html: string | (() => string), uri = "ui://map") => ({ uri, html });
const hidden = { visibleTo: () => false };
const PLAIN = () => "";

async function connected(server: Server): Promise<Client> {
  const client = await connect(server, { cache: false });
  cleanups.push(() => client.close());
  return client;
}

/** The text of a page as a caller gets it, or the kind of the error. */
async function read(server: Server, uri = "ui://map"): Promise<unknown> {
  const client = await connected(server);
  try {
    const [first] = (await client.readResource(uri)).contents;
    return first !== undefined && "text" in first ? first.text : first;
  } catch (error) {
    return McpError.from(error).kind;
  }
}

describe("APP-03: the page of a tool", () => {
  it("is hidden with the tool that replaces a public one", async () => {
    const server = extended().tool("a", { ui: page("<p>public") }, PLAIN);
    server.replace(tool("a", { ...hidden, ui: page("<p>secret") }, PLAIN));
    expect(await read(server)).toBe("resource_not_found");
    expect(await (await connected(server)).allResources()).toEqual([]);
    server.replace(tool("a", { ui: page("<p>public again") }, PLAIN));
    expect(await read(server)).toBe("<p>public again");
  });

  it("is withdrawn with its last tool, and leaves its address free", async () => {
    const server = extended()
      .tool("a", { ui: page("<p>A") }, PLAIN)
      .tool("b", { ui: page("<p>A") }, PLAIN);
    server.remove("tool", "a");
    expect(await read(server)).toBe("<p>A");
    server.remove("tool", "b");
    expect(await read(server)).toBe("resource_not_found");
    server.tool("c", { ui: page("<p>C") }, PLAIN);
    expect(await read(server)).toBe("<p>C");
  });

  it("goes with a tool that is replaced by one with another page, or with none", async () => {
    const server = extended().tool("a", { ui: page("<p>A") }, PLAIN);
    server.replace(tool("a", { ui: page("<p>B", "ui://other") }, PLAIN));
    expect([await read(server), await read(server, "ui://other")]).toEqual(["resource_not_found", "<p>B"]);
    server.replace(tool("a", { ui: "ui://other" }, PLAIN));
    expect(await read(server, "ui://other")).toBe("resource_not_found");
  });

  it("is there for everybody who sees one of its tools, in either order", async () => {
    const first = extended()
      .tool("admin", { ...hidden, ui: page("<p>") }, PLAIN)
      .tool("open", { ui: page("<p>") }, PLAIN);
    expect(await read(first)).toBe("<p>");
    const last = extended()
      .tool("open", { ui: page("<p>") }, PLAIN)
      .tool("admin", { ...hidden, ui: page("<p>") }, PLAIN);
    expect(await read(last)).toBe("<p>");
    last.remove("tool", "open");
    expect(await read(last)).toBe("resource_not_found");
  });

  it.each([
    ["is rejected", () => Promise.reject(new Error("no")) as never],
    [
      "throws",
      () => {
        throw new Error("no");
      },
    ],
    ["returns nothing", () => undefined as never],
  ])("is hidden by a `visibleTo` that %s, and shown by another tool", async (_how, visibleTo) => {
    const server = extended().tool("a", { visibleTo, ui: page("<p>") }, PLAIN);
    expect(await read(server)).toBe("resource_not_found");
    server.tool("b", { visibleTo: () => true, ui: page("<p>") }, PLAIN);
    expect(await read(server)).toBe("<p>");
  });

  it("does not stay when the tool is refused", async () => {
    const server = extended().tool("a", {}, PLAIN);
    expect(() => server.tool("a", { ui: page("<p>dup") }, PLAIN)).toThrow(/exists already/);
    expect(await read(server)).toBe("capability_missing");
    expect(() => server.add(resource("ui://map", {}, () => "mine"))).not.toThrow();
  });

  it("keeps the tool and its page when the one in its place is refused", async () => {
    const server = extended()
      .tool("a", { task: "required", ui: page("<p>A") }, PLAIN)
      .tool("b", { ui: page("<p>B", "ui://b") }, PLAIN);
    expect(() => server.replace(tool("a", { ui: page("<p>X", "ui://b") }, PLAIN))).toThrow(/different pages/);
    expect(await read(server)).toBe("<p>A");
    const client = await connected(server);
    await expect(client.callTool("a", {})).rejects.toMatchObject({ kind: "capability_missing" });
  });

  it("is refused for two tools with different scopes, because a resource has one list of them", () => {
    const server = extended().tool("a", { scopes: ["x", "y"], ui: page("<p>") }, PLAIN);
    server.tool("b", { scopes: ["y", "x"], ui: page("<p>") }, PLAIN);
    expect(() => server.tool("c", { ui: page("<p>") }, PLAIN)).toThrow(/different scopes for ui:\/\/map/);
  });

  it("of a mounted server is found where the entry of the tool says", async () => {
    const outer = extended().mount("m", extended().tool("a", { ui: page("<p>A") }, PLAIN));
    const [listed] = await (await connected(outer)).allTools();
    expect(listed).toMatchObject({ name: "m_a", _meta: { ui: { resourceUri: "ui://m+map" } } });
    expect(await read(outer, "ui://m+map")).toBe("<p>A");
  });

  it("that only some callers see is not reported as missing", async () => {
    const warnings: string[] = [];
    const server = new Server(
      { name: "s", version: "1" },
      { extensions: [apps()], platform: { ...platform, warn: (message) => warnings.push(message) } },
    );
    server.tool("a", { ui: "ui://map" }, PLAIN).tool("gone", { ui: "ui://gone" }, PLAIN);
    server.add(resource("ui://map", hidden, () => "<p>"));
    server.remove("tool", "gone");
    await (await connected(server)).allTools();
    expect(warnings).toEqual([]);
  });
});

describe("the rules of tasks", () => {
  it("TASK26-07: do not stay of a tool that was refused", async () => {
    const server = extended().tool("a", {}, () => "plain");
    expect(() => server.tool("a", { task: "required" }, PLAIN)).toThrow(/exists already/);
    expect(await (await connected(server)).call("a")).toBe("plain");
  });
});
