import { type Client, type ClientOptions, connect, McpError, resource, Server } from "@parley/mcp";
import { apps, showsApps, type ToolUi } from "@parley/mcp/apps";
import { REVISIONS } from "@parley/mcp/protocol";
import { afterEach, describe, expect, it } from "vitest";
import { platform } from "../../../src/node/platform.js";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const INFO = { name: "weather", version: "1" };
const PAGE_TYPE = "text/html;profile=mcp-app";
const HTML = "<!doctype html><title>Map</title>";
const extended = () => new Server(INFO, { extensions: [apps()] });

async function connected(server: Server, options: ClientOptions = {}): Promise<Client> {
  const client = await connect(server, options);
  cleanups.push(() => client.close());
  return client;
}

/** The error of a registration. */
function refusal(ui: unknown): McpError {
  try {
    // The compiler refuses most of these.
    extended().tool("map", { ui: ui as ToolUi }, () => "");
  } catch (error) {
    return McpError.from(error);
  }
  throw new Error("it was registered");
}

describe.each(REVISIONS)("a server with apps, in %s", (revision) => {
  it("APP-02, APP-03: lists the page of a tool, and gives it with its type and what it needs", async () => {
    const server = extended().tool(
      "map",
      {
        ui: {
          uri: "ui://weather/map",
          html: HTML,
          visibility: ["model"],
          csp: {
            connectDomains: ["https://api.example.com"],
            resourceDomains: ["https://*.example.com"],
            frameDomains: [],
          },
          permissions: ["geolocation"],
          domain: "map.example.net",
          prefersBorder: true,
        },
        _meta: { "com.example/x": 1 },
      },
      () => "sunny",
    );
    const client = await connected(server, { revisions: [revision], extensions: [apps()] });
    const [tool] = await client.allTools();
    expect(tool?._meta).toEqual({
      "com.example/x": 1,
      ui: { resourceUri: "ui://weather/map", visibility: ["model"] },
    });
    expect((await client.readResource("ui://weather/map")).contents).toEqual([
      {
        uri: "ui://weather/map",
        mimeType: PAGE_TYPE,
        text: HTML,
        _meta: {
          ui: {
            csp: { connectDomains: ["https://api.example.com"], resourceDomains: ["https://*.example.com"] },
            permissions: { geolocation: {} },
            domain: "map.example.net",
            prefersBorder: true,
          },
        },
      },
    ]);
    expect((await client.allResources()).map(({ uri, mimeType }) => [uri, mimeType])).toEqual([
      ["ui://weather/map", PAGE_TYPE],
    ]);
  });

  it("APP-01, APP-04, AMB-11: tells tools who shows pages, and lists the same to everybody", async () => {
    const server = extended().tool("map", { ui: { uri: "ui://map", html: HTML } }, (_args, ctx) =>
      showsApps(ctx) ? "see the map" : "It is sunny.",
    );
    const plain = await connected(server, { revisions: [revision] });
    const host = await connected(server, { revisions: [revision], extensions: [apps()] });
    expect(await plain.call("map")).toBe("It is sunny.");
    expect(await host.call("map")).toBe("see the map");
    expect(await plain.allTools()).toEqual(await host.allTools());
  });
});

describe("a server with apps", () => {
  it("reads a page anew for each host when it is a function", async () => {
    let reads = 0;
    const server = extended().tool("map", { ui: { uri: "ui://map", html: async () => `<p>${++reads}</p>` } }, () => "");
    const client = await connected(server, { cache: false });
    await client.readResource("ui://map");
    expect((await client.readResource("ui://map")).contents).toEqual([
      { uri: "ui://map", mimeType: PAGE_TYPE, text: "<p>2</p>" },
    ]);
  });

  it("refuses to send what a function gives in place of a page", async () => {
    const server = extended().tool("map", { ui: { uri: "ui://map", html: () => " " } }, () => "");
    const client = await connected(server);
    await expect(client.readResource("ui://map")).rejects.toMatchObject({ kind: "internal_error" });
  });

  it("lets several tools share a page, in either way", async () => {
    const server = extended()
      .tool("a", { ui: { uri: "ui://map", html: HTML } }, () => "")
      .tool("b", { ui: "ui://map" }, () => "")
      .tool("c", { ui: { uri: "ui://map", html: HTML, visibility: ["app"] } }, () => "");
    const client = await connected(server);
    expect((await client.allTools()).map(({ _meta }) => _meta?.["ui"])).toEqual([
      { resourceUri: "ui://map" },
      { resourceUri: "ui://map" },
      { resourceUri: "ui://map", visibility: ["app"] },
    ]);
    expect(() => server.tool("d", { ui: { uri: "ui://map", html: "<p>" } }, () => "")).toThrow(/different pages/);
  });

  it("brings a page anew with a tool that is replaced", async () => {
    const server = extended().tool("map", { ui: { uri: "ui://map", html: "<p>old" } }, () => "");
    server.replace({
      kind: "tool",
      name: "map",
      definition: { ui: { uri: "ui://map", html: "<p>new" } },
      handler: () => "",
    });
    const client = await connected(server);
    expect((await client.readResource("ui://map")).contents).toMatchObject([{ text: "<p>new" }]);
  });

  it("APP-03: tells its operator of a page that does not exist, once, at the first list", async () => {
    const warnings: string[] = [];
    const server = new Server(INFO, {
      extensions: [apps()],
      platform: { ...platform, warn: (message) => warnings.push(message) },
    })
      .tool("there", { ui: "ui://there" }, () => "")
      .tool("gone", { ui: "ui://gone" }, () => "");
    server.add(resource("ui://there", { mimeType: PAGE_TYPE }, () => HTML));
    const client = await connected(server, { cache: false });
    await client.allTools();
    await client.allTools();
    expect(warnings).toEqual(['the tool "gone" refers to the page ui://gone, which does not exist on this server']);
  });

  it("shows a page to those who see the tool that brings it", async () => {
    const hidden = extended().tool(
      "map",
      { visibleTo: ({ auth }) => auth?.key === "ada", ui: { uri: "ui://map", html: HTML } },
      () => "",
    );
    const client = await connected(hidden);
    await expect(client.readResource("ui://map")).rejects.toMatchObject({ kind: "resource_not_found" });
    expect(await client.allResources()).toEqual([]);
  });

  it("keeps nothing of a page whose address is taken", async () => {
    const server = extended();
    server.add(resource("ui://map", {}, () => "taken"));
    const define = () => server.tool("map", { ui: { uri: "ui://map", html: HTML } }, () => "");
    expect(define).toThrow(/exists already/);
    expect(define).toThrow(/exists already/);
  });

  it("refuses `ui` without the extension, and says how to add it", () => {
    expect(() => new Server(INFO).tool("map", { ui: "ui://map" }, () => "")).toThrow(
      expect.objectContaining({ fix: expect.stringContaining("@parley/mcp/apps") }),
    );
  });

  it.each<[string, unknown]>([
    ["another scheme", "https://example.com/map"],
    ["no name", "ui://"],
    ["white space", "ui://a b"],
    ["a quote", 'ui://a"b'],
    ["a number", 7],
    ["a very long address", `ui://${"a".repeat(3000)}`],
    ["an empty page", { uri: "ui://map", html: " " }],
    ["bytes for a page", { uri: "ui://map", html: new Uint8Array(3) }],
    ["nobody who may call", { uri: "ui://map", visibility: [] }],
    ["somebody else who may call", { uri: "ui://map", visibility: ["user"] }],
    ["an unknown permission", { uri: "ui://map", permissions: ["usb"] }],
    ["a domain with a scheme", { uri: "ui://map", domain: "https://example.com" }],
    ["a domain with a directive", { uri: "ui://map", domain: "a; script-src *" }],
    ["a border of text", { uri: "ui://map", prefersBorder: "yes" }],
    ["an unknown member", { uri: "ui://map", csps: {} }],
    ["an unknown list of domains", { uri: "ui://map", csp: { imgDomains: [] } }],
    ["a text for a list", { uri: "ui://map", csp: { connectDomains: "https://example.com" } }],
    ["too many domains", { uri: "ui://map", csp: { connectDomains: Array(65).fill("https://example.com") } }],
  ])("refuses %s in `ui`", (_what, ui) => {
    expect(refusal(ui).kind).toBe("invalid_definition");
  });

  it.each([
    "*",
    "https:",
    "https://*",
    "https://*.com",
    "http://example.com",
    "https://intranet",
    "https://10.0.0.1",
    "https://[::1]",
    "https://example.com/path",
    "https://user@example.com",
    "https://example.com; script-src *",
    "https://example.com 'unsafe-eval'",
    "https://example.com,https://evil.example",
    "'unsafe-eval'",
    "'none'",
    "data:",
    "blob:",
    "javascript:alert(1)",
    "https://exa\nmple.com",
    "https://a.*.example.com",
    "https://-a.example.com",
    `https://${"a.".repeat(200)}com`,
    "",
  ])("APP-06: refuses %j as a domain of the policy", (domain) => {
    for (const list of ["connectDomains", "resourceDomains", "frameDomains", "baseUriDomains"]) {
      expect(refusal({ uri: "ui://map", csp: { [list]: [domain] } }).message).toContain("is not a domain");
    }
  });
});
