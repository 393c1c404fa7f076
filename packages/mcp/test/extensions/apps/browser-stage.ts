import { existsSync } from "node:fs";
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Server } from "@parley/mcp";
import { apps, sandboxPage } from "@parley/mcp/apps";
import { serveHttp } from "@parley/mcp/node";
import type { Browser, Frame, Page } from "playwright-core";
import { rolldown } from "rolldown";
import { hasChromium, launchChromium } from "../../browser/chromium.js";
import type { Stage } from "./host-page.js";

const source = (path: string) => fileURLToPath(new URL(`../../../src/${path}`, import.meta.url));
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const peers = here("../../peers");

if (!hasChromium) {
  console.log("apps: Chromium is not installed (scripts/system-packages.sh); no app was shown in a real browser");
}
/** Whether there is a browser to try it in. */
export const hasBrowser = hasChromium;
/** Whether the published package is installed. */
export const hasPublished = existsSync(join(peers, "node_modules/@modelcontextprotocol/ext-apps"));
if (!hasPublished) console.log("apps: @modelcontextprotocol/ext-apps is not installed (npm run peers)");

/** The script of a page of this folder, or of the peers, with the platform that browsers get. */
export async function bundlePage(path: string): Promise<string> {
  const build = await rolldown({
    input: path.startsWith("apps-") ? join(peers, "programs", path) : here(path),
    platform: "browser",
    tsconfig: false,
    logLevel: "silent",
    resolve: {
      alias: {
        "@parley/mcp/apps-view": source("apps-view.ts"),
        "@parley/mcp/apps": source("apps.ts"),
        "@parley/mcp": source("index.ts"),
        "#platform": source("platform/default.ts"),
        "#transports": source("transport/default-transports.ts"),
      },
    },
  });
  const { output } = await build.generate({ format: "esm", codeSplitting: false, minify: true });
  await build.close();
  return output[0].code;
}

/** A page with one script inside. */
export const pageWith = (script: string, head = "") =>
  `<!doctype html><title>view</title>${head}<body><p>view</p><script type="module">${script.replaceAll("</script", "<\\/script")}</script>`;

/** A page that speaks to the page around it as an app would, before it is loaded. */
const SPEAKS = `<!doctype html><script>
  const ask = { jsonrpc: "2.0", id: 1, method: "ui/open-link", params: { url: "https://example.com/" } };
  parent.postMessage(ask, "*");
  parent.postMessage("spoken", "*");
</script>${" ".repeat(2048)}`;

/** The tools that apps may and may not call. */
const mcpServer = (view: string) =>
  new Server({ name: "weather", version: "1" }, { extensions: [apps()] })
    .tool(
      "map",
      { input: { type: "object", properties: { city: { type: "string" } } }, ui: { uri: "ui://map", html: view } },
      ({ city }) => `sunny in ${city}`,
    )
    .tool("refresh", { ui: { uri: "ui://map", visibility: ["app"] } }, () => "fresh")
    .tool("secret", { ui: { uri: "ui://map", visibility: ["model"] } }, () => "for the model")
    .tool("fails", {}, () => {
      throw new Error("inside");
    })
    .resource("note://a", {}, () => "a note");

/** A request, or a connection without one, that reached a server outside of all pages. */
export type Arrival = string;

/** Servers, a browser and the pages of a test. */
export interface BrowserStage {
  readonly hostOrigin: string;
  readonly sandbox: string;
  readonly url: string;
  /** A server that no page declares. It answers everybody. */
  readonly outside: string;
  /** What reached it since the last time this was asked. */
  arrivals(): Arrival[];
  readonly view: string;
  /** Opens a host's page; it is closed by `closePages`. */
  openHost(): Promise<HostPage>;
  closePages(): Promise<void>;
  close(): Promise<void>;
}

/** A host's page. */
export interface HostPage {
  readonly page: Page;
  run<N extends keyof Stage>(name: N, ...args: Parameters<Stage[N]>): Promise<Awaited<ReturnType<Stage[N]>>>;
  /** The frame of the app, inside the sandbox's. */
  view(): Frame;
  /** What the host noted under a name. */
  noted(name: string): Promise<unknown[]>;
}

/** Waits until an expression is true in a frame. From outside, because the policy of a page forbids `eval` in it. */
export async function until(frame: Frame | Page, expression: string): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if ((await frame.evaluate(`Boolean(${expression})`)) === true) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`it did not come true: ${expression}`);
}

export async function openStage(): Promise<BrowserStage> {
  const [hostScript, publishedHost, viewScript] = await Promise.all([
    bundlePage("host-page.ts"),
    hasPublished ? bundlePage("apps-host.mjs") : "",
    bundlePage("our-view.ts"),
  ]);
  const view = pageWith(viewScript);
  const arrived: Arrival[] = [];
  const site = await listen("localhost", (request, response) => {
    const script =
      request.url === "/host.js" ? hostScript : request.url === "/published.js" ? publishedHost : undefined;
    response.setHeader("content-type", script === undefined ? "text/html" : "text/javascript");
    const scripts = ["/host.js", "/published.js"].map((src) => `<script type="module" src="${src}"></script>`);
    if (request.url === "/empty") response.end("empty");
    else response.end(script ?? `<!doctype html><title>host</title><body>${scripts.join("")}`);
  });
  const hostOrigin = originOf(site, "localhost");
  const sandboxSite = await listen("127.0.0.1", (request, response) => {
    const hosts = [request.url === "/sandbox" ? hostOrigin : "https://chat.example.com"];
    const { html, headers } = sandboxPage({ hosts, allowLoopback: true });
    response.writeHead(200, headers).end(html);
  });
  const outsideSite = await listen("127.0.0.1", (request, response) => {
    arrived.push(`${request.method} ${request.url}`);
    response.setHeader("access-control-allow-origin", "*");
    if (request.url === "/speaks") response.writeHead(200, { "content-type": "text/html" }).write(SPEAKS);
    else response.end("outside");
  });
  outsideSite.on("upgrade", (request, socket) => {
    arrived.push(`UPGRADE ${request.url}`);
    socket.destroy();
  });
  const handle = await serveHttp(mcpServer(view), { port: 0, cors: { origins: [hostOrigin] } });
  const browser = await launchChromium();
  const context = await browser.newContext();
  return {
    hostOrigin,
    sandbox: `${originOf(sandboxSite, "127.0.0.1")}/sandbox`,
    url: handle.url,
    outside: originOf(outsideSite, "127.0.0.1"),
    arrivals: () => arrived.splice(0),
    view,
    openHost: async () => hostPage(await context.newPage(), hostOrigin),
    closePages: async () => {
      for (const page of context.pages()) await page.close();
    },
    close: () => closeAll(browser, [site, sandboxSite, outsideSite], handle),
  };
}

async function hostPage(page: Page, origin: string): Promise<HostPage> {
  await page.goto(origin, { waitUntil: "load" });
  await page.waitForFunction("globalThis.stage !== undefined");
  const run: HostPage["run"] = (name, ...args) => page.evaluate(`stage.${name}(...${JSON.stringify(args)})`);
  return {
    page,
    run,
    view() {
      const found = page.frames().find((frame) => frame.parentFrame()?.parentFrame() === page.mainFrame());
      if (found === undefined) throw new Error("there is no app");
      return found;
    },
    async noted(name) {
      return (await run("noted")).filter(([noted]) => noted === name).map(([, what]) => what);
    },
  };
}

async function closeAll(browser: Browser, sites: HttpServer[], handle: { close(): Promise<void> }): Promise<void> {
  await browser.close();
  for (const site of sites) {
    site.closeAllConnections();
    site.close();
  }
  await handle.close();
}

async function listen(
  host: string,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<HttpServer> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return server;
}

const originOf = (server: HttpServer, host: string) => `http://${host}:${(server.address() as AddressInfo).port}`;
