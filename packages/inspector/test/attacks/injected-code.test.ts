import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openWebServer, type WebServer } from "../../src/web/web-server.js";
import { hasBrowser, launchBrowser } from "../kit/browser.js";
import { builtPage } from "../kit/built-page.js";
import { ScriptedEngine } from "../kit/scripted-engine.js";
import { type ForeignSite, openForeignSite } from "./foreign-site.js";

/** The second line of defence: what happens if text of a server became part of the page after all. */
describe.runIf(hasBrowser)("markup that came into the page by a mistake", () => {
  let web: WebServer;
  let site: ForeignSite;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    web = await openWebServer(new ScriptedEngine(), { port: 0, pageFolder: await builtPage() });
    site = await openForeignSite();
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await web?.close();
    await site?.close();
  });
  beforeEach(async () => {
    page = await (await browser.newContext()).newPage();
    await page.goto(web.url, { waitUntil: "load" });
    site.arrivals();
  });

  const outside = () => `http://127.0.0.1:${site.port}/stolen`;

  /** Runs code in the page, and gives the directives that it violated, once there is one. */
  const violated = (code: string): Promise<unknown> =>
    page.evaluate(`new Promise((resolve, reject) => {
      document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => resolve(effectiveDirective));
      setTimeout(() => reject(new Error("nothing was refused")), 10_000);
      try { ${code} } catch (reason) { if (!(reason instanceof TypeError || reason instanceof EvalError)) reject(reason); }
    })`);

  for (const [what, code, directive] of [
    ["is not parsed as HTML", `document.body.innerHTML = "<img src=x onerror=alert(1)>"`, "require-trusted-types-for"],
    ["is not written", `document.write("<script>1</script>")`, "require-trusted-types-for"],
    [
      "is no frame with a document of its own",
      `document.createElement("iframe").srcdoc = "x"`,
      "require-trusted-types-for",
    ],
    [
      "runs no script in the page",
      `const script = document.createElement("script"); script.append("globalThis.ran = 1"); document.body.append(script)`,
      "require-trusted-types-for",
    ],
    ["imports no module", `import("data:text/javascript,globalThis.ran=1").catch(() => undefined)`, "script-src-elem"],
    ["runs no text as a program", `setTimeout("globalThis.ran = 1")`, "require-trusted-types-for"],
    [
      "makes no policy of its own to get around that",
      `trustedTypes.createPolicy("mine", { createHTML: (text) => text })`,
      "trusted-types",
    ],
    ["loads no image", `new Image().src = OUTSIDE`, "img-src"],
    ["sends no request", `fetch(OUTSIDE, { mode: "no-cors" }).catch(() => undefined)`, "connect-src"],
    ["sends no beacon", `navigator.sendBeacon(OUTSIDE, "x")`, "connect-src"],
    ["opens no socket", `new WebSocket(OUTSIDE.replace("http", "ws"))`, "connect-src"],
    [
      "loads no style",
      `document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: OUTSIDE }))`,
      "style-src-elem",
    ],
    [
      "has no style of its own",
      `const style = document.createElement("style"); style.append("*{color:red}"); document.head.append(style)`,
      "style-src-elem",
    ],
    [
      "frames nothing",
      `document.body.append(Object.assign(document.createElement("iframe"), { src: OUTSIDE }))`,
      "frame-src",
    ],
    [
      "moves no relative address",
      `document.head.append(Object.assign(document.createElement("base"), { href: OUTSIDE }))`,
      "base-uri",
    ],
    [
      "sends no form",
      `const form = Object.assign(document.createElement("form"), { action: OUTSIDE, method: "post" }); document.body.append(form); form.submit()`,
      "form-action",
    ],
    ["plays nothing", `document.createElement("video").src = OUTSIDE`, "media-src"],
    [
      "starts no plugin",
      `document.body.append(Object.assign(document.createElement("object"), { data: OUTSIDE }))`,
      "require-trusted-types-for",
    ],
  ] as const) {
    it(what, async () => {
      const filled = code.replaceAll("OUTSIDE", JSON.stringify(outside()));
      expect(await violated(filled)).toBe(directive);
      expect(await page.evaluate("globalThis.ran")).toBeUndefined();
      expect(site.arrivals()).toEqual([]);
    });
  }

  it("finds no token in the address, and the cookie in no script", async () => {
    expect(page.url()).not.toContain("token");
    expect(await page.evaluate("document.cookie")).toBe("");
    expect(await page.evaluate("document.referrer")).toBe("");
  });
});
