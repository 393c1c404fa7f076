import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Server } from "@parley/mcp";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveHttp } from "../../src/node/http/serve-http.js";
import type { Revision } from "../../src/protocol/revisions.js";
import type { ListeningHandle } from "../../src/transport/serve-handle.js";
import { bundlePage } from "./bundle-page.js";
import { hasChromium, launchChromium } from "./chromium.js";
import type { PageFunctions } from "./page.js";

if (!hasChromium) {
  console.log("browser: Chromium is not installed (scripts/system-packages.sh); nothing was tried in a real browser");
}

const number = { type: "number" } as const;
const server = new Server({ name: "elsewhere", version: "1" })
  .tool("add", { input: { type: "object", properties: { a: number, b: number } } }, ({ a, b }) =>
    String(Number(a) + Number(b)),
  )
  .tool("count", { input: { type: "object", properties: { to: number } } }, async ({ to }, ctx) => {
    for (let step = 1; step <= Number(to); step++) ctx.progress(step);
    return "done";
  })
  .tool("ask", {}, async (_args, ctx) => {
    const form = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;
    return `hello ${(await ctx.elicit("Who are you?", form)).name}`;
  })
  .tool("wait", {}, (_args, ctx) => {
    ctx.progress(1);
    return new Promise((resolve) => ctx.signal.addEventListener("abort", () => resolve("stopped")));
  })
  .tool("touch", {}, () => {
    server.resourceUpdated("note://a");
    return "touched";
  })
  .resource("note://a", { name: "note" }, () => "a note");

describe.runIf(hasChromium)("a page in Chromium, from another origin", () => {
  let browser: Browser;
  let site: HttpServer;
  let page: Page;
  const handles: ListeningHandle[] = [];
  const complaints: string[] = [];

  const serve = async (origins: readonly string[] | undefined): Promise<string> => {
    const handle = await serveHttp(server, { port: 0, ...(origins === undefined ? {} : { cors: { origins } }) });
    handles.push(handle);
    return handle.url;
  };
  /** Calls one of the page's own functions. */
  const inPage = <N extends keyof PageFunctions>(name: N, ...args: Parameters<PageFunctions[N]>) =>
    page.evaluate<Awaited<ReturnType<PageFunctions[N]>>>(`${name}(...${JSON.stringify(args)})`);
  const origin = () => `http://localhost:${(site.address() as AddressInfo).port}`;

  beforeAll(async () => {
    const script = await bundlePage();
    site = createServer((request, response) => {
      const isScript = request.url === "/page.js";
      response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
      response.end(isScript ? script : '<!doctype html><script type="module" src="/page.js"></script>');
    });
    await new Promise<void>((resolve) => site.listen(0, "localhost", resolve));
    browser = await launchChromium();
    page = await browser.newPage();
    page.on("pageerror", (error) => complaints.push(String(error)));
    await page.goto(origin(), { waitUntil: "load" });
    await page.waitForFunction("globalThis.visit !== undefined");
  }, 240_000);

  afterAll(async () => {
    await browser?.close();
    site?.close();
    await Promise.all(handles.map((handle) => handle.close()));
  });

  it.each<Revision>(["2025-11-25", "2026-07-28"])(
    "lists, calls, answers, hears progress and changes, and cancels in %s",
    { timeout: 240_000 },
    async (revision) => {
      const url = await serve([origin()]);
      const report = await inPage("visit", url, revision);
      expect(report).toEqual({
        version: revision,
        tools: ["add", "count", "ask", "wait", "touch"],
        sum: "5",
        progress: [1, 2, 3],
        greeting: "hello Ada",
        cancelled: "cancelled",
        changed: expect.objectContaining({ uri: "note://a" }),
      });
      expect(complaints).toEqual([]);
    },
  );

  it.each([
    ["does not allow pages of other origins", undefined],
    ["allows another page only", ["https://app.example.com"]],
  ] as const)("cannot connect to a server that %s", { timeout: 240_000 }, async (_what, origins) => {
    const url = await serve(origins);
    expect(await inPage("refusal", url)).toMatch(/^(connection_closed|transport_error|connect_failed): /);
  });
});
