import { type Client, connect, resource, Server } from "@parley/mcp";
import { type AppsOptions, apps, contentPolicy } from "@parley/mcp/apps";
import type { Tool } from "@parley/mcp/protocol";
import { afterEach, describe, expect, it } from "vitest";
import type { ReadContents } from "../../../src/server/contract/resource.js";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const PAGE_TYPE = "text/html;profile=mcp-app";
const HTML = "<!doctype html><title>Map</title>";
const toolWith = (meta: unknown): Tool => ({ name: "t", inputSchema: { type: "object" }, _meta: { ui: meta } });

/** Connects to a server whose page has these contents. */
async function hostOf(contents: ReadContents | ReadContents[], options: AppsOptions = {}) {
  const server = new Server({ name: "s", version: "1" }).add(resource("ui://page", {}, () => contents));
  const extension = apps(options);
  const warnings: string[] = [];
  const client: Client = await connect(server, { extensions: [extension], onWarning: (text) => warnings.push(text) });
  cleanups.push(() => client.close());
  return { pages: client.extension(extension), warnings };
}

describe("the pages of a client", () => {
  it("APP-01: declares the type of the pages that it shows", async () => {
    let declared: unknown;
    const server = new Server({ name: "s", version: "1" }).tool("t", {}, (_args, ctx) => {
      declared = ctx.client.capabilities.extensions;
      return "";
    });
    const client = await connect(server, { extensions: [apps()] });
    cleanups.push(() => client.close());
    await client.call("t");
    expect(declared).toEqual({ "io.modelcontextprotocol/ui": { mimeTypes: [PAGE_TYPE] } });
  });

  it("APP-05: reads the page of a tool, with what it needs", async () => {
    const ui = {
      csp: { connectDomains: ["https://api.example.com"] },
      permissions: { camera: {}, clipboardWrite: {} },
      domain: "a.example.net",
      prefersBorder: false,
    };
    const { pages, warnings } = await hostOf({ text: HTML, mimeType: PAGE_TYPE, _meta: { ui } });
    const expected = { ...ui, uri: "ui://page", html: HTML, permissions: ["camera", "clipboardWrite"] };
    expect(await pages.pageOf(toolWith({ resourceUri: "ui://page" }))).toEqual(expected);
    const flat = { ...toolWith(undefined), _meta: { "ui/resourceUri": "ui://page" } };
    expect(await pages.pageOf(flat)).toEqual(expected);
    expect(warnings).toEqual([]);
  });

  it("reads a page in Base64, and a type with other spelling", async () => {
    const blob = Buffer.from("<p>größer</p>").toString("base64");
    const { pages } = await hostOf({ blob, mimeType: "text/HTML; profile=mcp-app" });
    expect(await pages.pageOf(toolWith({ resourceUri: "ui://page" }))).toMatchObject({
      html: "<p>größer</p>",
      csp: {},
    });
  });

  it.each<[string, unknown]>([
    ["no `_meta`", undefined],
    ["another scheme", { resourceUri: "https://example.com" }],
    ["no text", { resourceUri: 7 }],
    ["an address in an inherited member", Object.create({ resourceUri: "ui://page" })],
  ])("gives no page for a tool with %s", async (_what, meta) => {
    const { pages } = await hostOf({ text: HTML, mimeType: PAGE_TYPE });
    // What a server sends has no inherited members.
    const tool = toolWith(meta);
    expect(await pages.pageOf(JSON.parse(JSON.stringify(tool)))).toBeUndefined();
  });

  it.each<[string, ReadContents | ReadContents[], string, RegExp]>([
    ["of another type", { text: HTML, mimeType: "text/html" }, "invalid_response", /its type is "text\/html"/],
    ["without a type", HTML, "invalid_response", /its type is ""/],
    [
      "of another address",
      { text: HTML, mimeType: PAGE_TYPE, uri: "ui://other" },
      "invalid_response",
      /did not return this resource/,
    ],
    ["without contents", [], "invalid_response", /did not return this resource/],
    ["that is empty", { text: "\n", mimeType: PAGE_TYPE }, "invalid_response", /empty/],
    ["that is not UTF-8", { blob: "/w==", mimeType: PAGE_TYPE }, "invalid_response", /UTF-8/],
    ["that is not Base64", { blob: "%%%", mimeType: PAGE_TYPE }, "invalid_response", /UTF-8/],
    [
      "that is too long",
      { text: "a".repeat(1001), mimeType: PAGE_TYPE },
      "limit_exceeded",
      /`maxPageBytes`, 1000 bytes/,
    ],
    ["with too many bytes", { text: "ä".repeat(501), mimeType: PAGE_TYPE }, "limit_exceeded", /`maxPageBytes`/],
    ["that is far too long", { blob: "AAAA".repeat(1000), mimeType: PAGE_TYPE }, "limit_exceeded", /`maxPageBytes`/],
  ])("APP-05: refuses a page %s", async (_what, contents, kind, message) => {
    const { pages } = await hostOf(contents, { maxPageBytes: 1000 });
    await expect(pages.pageOf(toolWith({ resourceUri: "ui://page" }))).rejects.toMatchObject({
      kind,
      message: expect.stringMatching(message),
    });
  });

  it("APP-06: leaves out needs that cannot be meant, with a warning for each", async () => {
    const ui = {
      csp: {
        connectDomains: ["https://ok.example.com", "*", "https://a.example; script-src *", 7],
        resourceDomains: "https://ok.example.com",
        frameDomains: Array(70).fill("https://f.example.com"),
      },
      permissions: { camera: true, usb: {}, microphone: {} },
      domain: "a/b",
      prefersBorder: 1,
    };
    const { pages, warnings } = await hostOf({ text: HTML, mimeType: PAGE_TYPE, _meta: { ui } });
    const page = await pages.pageOf(toolWith({ resourceUri: "ui://page" }));
    expect(page).toMatchObject({ permissions: ["microphone"], domain: undefined, prefersBorder: undefined });
    expect(page?.csp).toEqual({
      connectDomains: ["https://ok.example.com"],
      frameDomains: Array(64).fill("https://f.example.com"),
    });
    expect(warnings).toHaveLength(6);
  });

  it("APP-05: hides the tools of pages from models, and those of models from pages", async () => {
    const { pages } = await hostOf(HTML);
    const tools = [
      undefined,
      {},
      { visibility: ["model", "app"] },
      { visibility: ["model"] },
      { visibility: ["app"] },
    ].map(toolWith);
    const [plain, both, named, model, app] = tools;
    expect(pages.toolsForModel(tools)).toEqual([plain, both, named, model]);
    expect(tools.filter(pages.mayBeCalledByApp)).toEqual([plain, both, named, app]);
    for (const visibility of [[], ["everybody"], "app", { app: true }, null]) {
      expect(pages.toolsForModel([toolWith({ visibility })])).toEqual([]);
      expect(pages.mayBeCalledByApp(toolWith({ visibility }))).toBe(false);
    }
  });

  it.each([0, -1, 1.5, Number.NaN, "8"])("refuses %j as `maxPageBytes`", (maxPageBytes) => {
    // The compiler refuses the text.
    expect(() => apps({ maxPageBytes: maxPageBytes as number })).toThrow(/maxPageBytes/);
  });
});

describe("the policy of a page", () => {
  it("APP-06: allows nothing outside of the page by default", () => {
    expect(contentPolicy(undefined)).toBe(
      "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
        "font-src 'self'; media-src 'self' data:; connect-src 'none'; frame-src 'none'; base-uri 'self'; " +
        "object-src 'none'; form-action 'none'",
    );
  });

  it("APP-06: allows what is declared, where it is declared, and nothing else", () => {
    const policy = contentPolicy({
      connectDomains: ["https://api.example.com", "*", "https://x.example; script-src *"],
      resourceDomains: ["https://cdn.example.com"],
      frameDomains: ["https://f.example.com"],
      baseUriDomains: ["https://b.example.com"],
    });
    expect(policy).toBe(
      "default-src 'none'; script-src 'self' 'unsafe-inline' https://cdn.example.com; " +
        "style-src 'self' 'unsafe-inline' https://cdn.example.com; img-src 'self' data: https://cdn.example.com; " +
        "font-src 'self' https://cdn.example.com; media-src 'self' data: https://cdn.example.com; " +
        "connect-src https://api.example.com; frame-src https://f.example.com; " +
        "base-uri 'self' https://b.example.com; object-src 'none'; form-action 'none'",
    );
  });

  it("lets a page reach this machine only where the host wants that", () => {
    const csp = { connectDomains: ["http://localhost:3000"] };
    expect(contentPolicy(csp)).toContain("connect-src 'none'");
    expect(contentPolicy(csp, true)).toContain("connect-src http://localhost:3000;");
  });
});
