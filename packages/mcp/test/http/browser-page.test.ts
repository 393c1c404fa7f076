import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Server } from "@parley/mcp";
import { resourceServer } from "@parley/mcp/auth";
import type { HttpServerOptions } from "@parley/mcp/http";
import { ServerRegistry } from "@parley/mcp/registry";
import { describe, expect, it, onTestFinished } from "vitest";
import { nodeHandler } from "../../src/node/http/handler.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import { hasChromium, launchChromium } from "../browser/chromium.js";
import { sendRaw } from "./raw-http.js";
import { ADAPTERS, type Served } from "./serving.js";

/** What Chromium sends when someone types the address. */
const HTML = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";
const INFO = {
  name: "greeter",
  version: "2.1.0",
  title: "Greeter of many",
  description: "Greets people.\nPolitely.",
  websiteUrl: "https://greeter.example/about",
};

const server = (info = INFO) => new Server(info).tool("hidden_tool", {}, () => "hello");

/** Opens the address as a browser does. */
function open(served: Served, headers: Record<string, string> = {}, method = "GET"): Promise<Response> {
  return served.fetch(new Request(served.url, { method, headers: { accept: HTML, ...headers } }));
}

const isPage = (response: Response) => response.headers.get("content-type") === "text/html; charset=utf-8";

function hrefsOf(page: string): string[] {
  return [...page.matchAll(/href="([^"]*)"/g)].map(([, href = ""]) => href.replaceAll("&amp;", "&"));
}

describe.each(ADAPTERS)("a browser that opens the address, through %s", (_name, start) => {
  it.each([true, false, "auto"] as const)("gets a page with `sessions: %s`", async (sessions) => {
    const served = await start(server(), { sessions });
    const response = await open(served);
    expect(response.status).toBe(200);
    expect(isPage(response)).toBe(true);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    expect(response.headers.get("cache-control")).toBe("no-store");
    const page = await response.text();
    for (const text of ["Greeter of many", "greeter 2.1.0", "Greets people.\nPolitely.", "not needed"])
      expect(page).toContain(text);
    expect(page).toContain("MCP 2026-07-28, 2025-11-25");
    expect(page).toContain(`<pre>claude mcp add --transport http greeter ${served.url}</pre>`);
    expect(page).toContain(`<pre>npx @parley/cli inspect ${served.url}</pre>`);
    expect(page).not.toContain("hidden_tool");
    expect(page).not.toContain("<script");
  });

  it("has install links with the address", async () => {
    const served = await start(server());
    const [website, cursor = "", code = ""] = hrefsOf(await (await open(served)).text());
    expect(website).toBe(INFO.websiteUrl);
    const entry = { type: "http", url: served.url };
    const config = new URL(cursor).searchParams.get("config") ?? "";
    expect(JSON.parse(Buffer.from(config, "base64").toString())).toEqual(entry);
    expect(new URL(cursor).searchParams.get("name")).toBe("greeter");
    expect(JSON.parse(decodeURIComponent(code.split("?")[1] ?? ""))).toEqual({ name: "greeter", ...entry });
  });

  it("allows its own style and nothing else", async () => {
    const response = await open(await start(server()));
    const [, style = ""] = /<style>([\s\S]*?)<\/style>/.exec(await response.text()) ?? [];
    const digest = createHash("sha256").update(style).digest("base64");
    expect(response.headers.get("content-security-policy")).toBe(
      `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
  });

  it("gets the head alone with HEAD", async () => {
    const served = await start(server());
    const response = await open(served, {}, "HEAD");
    expect([response.status, isPage(response), await response.text()]).toEqual([200, true, ""]);
    expect((await open(served, { accept: "application/json" }, "HEAD")).status).toBe(405);
  });

  it.each([
    { accept: "application/json, text/event-stream" },
    { accept: "text/event-stream" },
    { accept: "application/json, text/event-stream, text/html" },
    { accept: "text/html;q=0, */*" },
    { accept: "text/html; q=0.000" },
    { accept: "text/htmlx, x-text/html" },
    { accept: "*/*" },
    { "mcp-session-id": "s" },
    { "last-event-id": "1" },
    { "mcp-protocol-version": "2025-11-25" },
  ])("a program with %j is answered as without the page", async (headers: Record<string, string>) => {
    const [one, other] = await Promise.all([start(server()), start(server(), { browserPage: false })]);
    const [page, none] = await Promise.all([open(one, headers), open(other, headers)]);
    expect(isPage(page)).toBe(false);
    expect([page.status, await page.text()]).toEqual([none.status, await none.text()]);
  });

  it("gets an error as a program does if the option is off", async () => {
    const off: HttpServerOptions = { browserPage: false };
    const response = await open(await start(server(), off));
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("Mcp-Session-Id")]);
    expect((await open(await start(server(), { ...off, sessions: false }))).status).toBe(405);
    expect((await open(await start(server(), off), {}, "HEAD")).status).toBe(405);
  });

  it("gets no page for other methods", async () => {
    const served = await start(server());
    for (const method of ["POST", "PUT", "DELETE"]) expect(isPage(await open(served, {}, method))).toBe(false);
  });

  it("is refused from another origin, and while the server closes", async () => {
    const served = await start(server());
    expect((await open(served, { origin: "https://evil.example" })).status).toBe(403);
    const closing = served.drain(1_000);
    const late = await open(served).catch(() => undefined);
    expect(late?.status ?? 503).toBe(503);
    await closing;
  });

  it("sees text of the server as text", async () => {
    const hostile = {
      name: `<script>alert(1)</script>`,
      version: `"><img src=x onerror=alert(1)>`,
      title: "a\u202eb & </title><script>alert(2)</script>",
      description: "<style>*{display:none}</style>",
      websiteUrl: "javascript:alert(3)",
    };
    const page = await (await open(await start(server(hostile)))).text();
    expect(page.match(/<(script|img)/gi)).toBeNull();
    expect(page.match(/<style>/gi)).toHaveLength(1);
    expect(page).not.toContain("\u202e");
    expect(hrefsOf(page).map((href) => new URL(href).protocol)).toEqual(["cursor:", "vscode:"]);
    expect(page).toContain("claude mcp add --transport http script-alert-1-script http");
  });

  it("is told the public address, or that of a proxy that ends TLS", async () => {
    const behind = await start(server(), {
      publicUrl: "https://greeter.example/mcp",
      allowUnauthenticated: true,
    });
    expect(await (await open(behind)).text()).toContain("<code>https://greeter.example/mcp</code>");
    const forwarded = await open(await start(server()), { "x-forwarded-proto": "https" });
    expect(await forwarded.text()).toMatch(/<code>https:\/\/(127\.0\.0\.1|localhost):\d+\/mcp<\/code>/);
  });

  it("is logged like every request", async () => {
    const statuses: number[] = [];
    const served = await start(server(), { onRequest: ({ status }) => void statuses.push(status) });
    await (await open(served)).text();
    expect(statuses).toEqual([200]);
  });
});

describe.each(ADAPTERS)("a protected server, through %s", (_name, start) => {
  const headers = { "www-authenticate": 'Bearer realm="r"' };
  const authenticate: HttpServerOptions["authenticate"] = (request) =>
    request.header("cookie") === "user=ada" ? { key: "ada" } : { status: 401, headers, message: "who?" };

  it.each(["GET", "HEAD"])("answers %s with 401 and a page that does not name the server", async (method) => {
    const response = await open(await start(server(), { authenticate }), {}, method);
    expect([response.status, isPage(response)]).toEqual([401, true]);
    expect(response.headers.get("www-authenticate")).toBe(headers["www-authenticate"]);
    const page = await response.text();
    expect(page).not.toMatch(/greet|2\.1\.0|2026-07-28|hidden_tool/i);
    if (method === "GET") expect(page).toContain("--header &quot;Authorization: Bearer &lt;token&gt;&quot;");
  });

  it("answers a program with 401 and JSON", async () => {
    const response = await open(await start(server(), { authenticate }), { accept: "application/json" });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { message: "who?" } });
  });

  it("shows the whole page to a browser that it accepts", async () => {
    const response = await open(await start(server(), { authenticate }), { cookie: "user=ada" });
    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(/Greeter of many[\s\S]*has accepted this browser/);
  });

  it("leaves other refusals as they are", async () => {
    const served = await start(server(), { authenticate: () => ({ status: 403, message: "not you" }) });
    const response = await open(served);
    expect([response.status, isPage(response)]).toEqual([403, false]);
  });
});

describe("the page of a server with OAuth", () => {
  it("says who opens the login", async () => {
    const auth = resourceServer({ resource: "https://shop.example/mcp", issuer: "https://login.example" });
    const handler = fetchHandler(server(), { auth });
    const response = await handler(new Request("https://shop.example/mcp", { headers: { accept: HTML } }));
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toContain("resource_metadata");
    const page = await response.text();
    expect(page).toContain("the application opens the login in a browser");
    expect(page).toContain("claude mcp add --transport http shop-example https://shop.example/mcp<");
    await handler.close();
  });
});

describe("an address from the request", () => {
  const HOSTILE = "/a'b;$(id)|c&`d`\"e";

  it("cannot put an operator of the shell into a command, through fetchHandler", async () => {
    const handler = fetchHandler(server());
    const response = await handler(new Request(`http://localhost:3000${HOSTILE}?x=1`, { headers: { accept: HTML } }));
    expect(commandsOf(await response.text())).toEqual(["http://localhost:3000/a%27b%3b%24%28id%29%7cc%26%60d%60%22e"]);
    await handler.close();
  });

  it("nor through nodeHandler, where the target may be absolute and the host an IPv6 address", async () => {
    const handler = nodeHandler(server());
    const site = createServer(handler);
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      void handler.close();
      site.close();
    });
    const get = (target: string, host: string) =>
      sendRaw(
        (site.address() as AddressInfo).port,
        `GET ${target} HTTP/1.1\r\nhost: ${host}\r\naccept: text/html\r\n\r\n`,
      );
    const [plain, absolute, six, wrong] = await Promise.all([
      get(HOSTILE, "localhost:1"),
      get("http://localhost:1/b$c", "localhost:1"),
      get("/mcp", "[::1]:1"),
      get("/mcp", "evil.example"),
    ]);
    expect(commandsOf(plain.body)).toEqual(["http://localhost:1/a%27b%3b%24%28id%29%7cc%26%60d%60%22e"]);
    expect(commandsOf(absolute.body)).toEqual(["http://localhost:1/b%24c"]);
    expect(commandsOf(six.body)).toEqual(["&quot;http://[::1]:1/mcp&quot;"]);
    expect(wrong.status).toBe(403);
    expect(wrong.headers.get("content-type")).toBe("application/json");
  });

  /** The addresses in the page's commands. */
  function commandsOf(page: string): string[] {
    return [...new Set([...page.matchAll(/(?:inspect|http greeter) (\S+)<\/pre>/g)].map(([, url = ""]) => url))];
  }
});

describe("a registry in a browser", () => {
  const visit = async (registry: ServerRegistry, name: string, http: HttpServerOptions = {}) => {
    const handler = registry.handler(fetchHandler, { http });
    const request = new Request(`http://localhost:3000/mcp/${name}`, { headers: { accept: HTML } });
    const response = await handler(request);
    await handler.close();
    return response;
  };

  it("has a page for each server, and none for a name without one", async () => {
    const registry = new ServerRegistry();
    registry.register("one", server());
    expect(await (await visit(registry, "one")).text()).toContain("inspect http://localhost:3000/mcp/one");
    expect(isPage(await visit(registry, "two"))).toBe(false);
  });

  it("does not tell who is not logged in which names exist", async () => {
    const registry = new ServerRegistry();
    registry.register("one", server());
    const [known, unknown] = await Promise.all(
      ["one", "two"].map((name) =>
        visit(registry, name, { publicUrl: "http://localhost:3000", authenticate: () => undefined }),
      ),
    );
    expect([known?.status, unknown?.status]).toEqual([401, 401]);
    expect(await known?.text()).toBe(await unknown?.text());
  });
});

if (!hasChromium) console.log("browser page: Chromium is not installed; the page was not opened in a real browser");

describe.runIf(hasChromium)("the page in Chromium", () => {
  it("applies its style in light and dark, and loads and blocks nothing", async () => {
    const [, start] = ADAPTERS[0] ?? [];
    const served = await start?.(server());
    const browser = await launchChromium();
    onTestFinished(() => browser.close());
    const seen: string[] = [];
    const colours: unknown[] = [];
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await browser.newPage({ colorScheme });
      page.on("console", (message) => seen.push(message.text()));
      page.on("request", (request) => seen.push(request.url()));
      await page.goto(served?.url ?? "");
      expect(await page.title()).toBe("Greeter of many");
      colours.push(await page.evaluate("getComputedStyle(document.body).backgroundColor"));
    }
    expect(colours).toEqual(["rgb(255, 255, 255)", "rgb(19, 21, 23)"]);
    expect(seen).toEqual([served?.url, served?.url]);
  });
});
