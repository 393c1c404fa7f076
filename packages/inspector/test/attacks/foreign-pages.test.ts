import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { openWebServer, type WebServer } from "../../src/web/web-server.js";
import { hasBrowser, launchBrowser } from "../kit/browser.js";
import { builtPage } from "../kit/built-page.js";
import { actionHeaders, type InspectorKeys, keysOf } from "../kit/inspector-keys.js";
import { requestText, sendRaw } from "../kit/raw-http.js";
import { ScriptedEngine } from "../kit/scripted-engine.js";
import { type ForeignSite, openForeignSite } from "./foreign-site.js";

/** Every name leads to this machine, as a name server of an attacker can have it; the browser's own guards of this machine are off. */
const HOSTILE_NAMES = [
  "--host-resolver-rules=MAP *.example 127.0.0.1",
  "--disable-features=LocalNetworkAccessChecks,PrivateNetworkAccessSendPreflights,BlockInsecurePrivateNetworkRequests",
];

describe.runIf(hasBrowser)("a page of somebody else, while the inspector is open in the same browser", () => {
  let engine: ScriptedEngine;
  let web: WebServer;
  let keys: InspectorKeys;
  let site: ForeignSite;
  let browser: Browser;
  let context: BrowserContext;

  let own: Page;

  beforeAll(async () => {
    site = await openForeignSite();
    browser = await launchBrowser(HOSTILE_NAMES);
    engine = new ScriptedEngine();
    web = await openWebServer(engine, { port: 0, pageFolder: await builtPage() });
    keys = await keysOf(web.url);
    context = await browser.newContext();
    // The user's own tab: the cookie is in the browser, and the events are followed.
    own = await context.newPage();
    await own.goto(web.url, { waitUntil: "load" });
    await vi.waitFor(() => expect(engine.followers).toBe(1), { timeout: 20_000 });
  });
  afterAll(async () => {
    await browser?.close();
    await web?.close();
    await site?.close();
  });

  beforeEach(() => {
    engine.asked.length = 0;
    site.arrivals();
  });
  afterEach(async () => {
    for (const page of context.pages()) if (page !== own) await page.close();
  });

  const foreign = async (host: string): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(`http://${host}:${site.port}/`);
    return page;
  };

  /** Runs the body of a function in a foreign page; it knows `origin`, `token` and `port` of the inspector. */
  const attack = (page: Page, body: string): Promise<unknown> => {
    const known = { origin: keys.origin, token: keys.token, port: keys.port, sitePort: site.port };
    return page.evaluate(`(async ({ origin, token, port, sitePort }) => { ${body} })(${JSON.stringify(known)})`);
  };

  const expectUntouched = () => {
    expect(engine.asked).toEqual([]);
    expect(engine.followers).toBe(1);
  };

  // Another port is another origin of the same site; another name of this machine, and another name altogether, are other sites.
  for (const host of ["127.0.0.1", "localhost", "evil.example"]) {
    describe(`at http://${host}`, () => {
      let page: Page;
      beforeEach(async () => {
        page = await foreign(host);
      });

      for (const [what, body] of [
        [
          "by a fetch with the user's cookie",
          `return fetch(origin + "/api/clear", { method: "POST", credentials: "include", body: "{}" })`,
        ],
        [
          "by a fetch of JSON with the user's cookie",
          `return fetch(origin + "/api/clear", { method: "POST", credentials: "include", body: "{}", headers: { "content-type": "application/json" } })`,
        ],
        [
          "by a fetch with a token that leaked",
          `return fetch(origin + "/api/clear", { method: "POST", credentials: "include", body: "{}",
             headers: { "content-type": "application/json", "x-parley-token": token } })`,
        ],
        [
          "by reading the page",
          `return fetch(origin + "/", { credentials: "include" }).then((answer) => answer.text())`,
        ],
        [
          "by reading the events",
          `return fetch(origin + "/api/events", { credentials: "include", headers: { "x-parley-token": token } })`,
        ],
        [
          "by an old request",
          `return new Promise((resolve, reject) => {
             const request = new XMLHttpRequest();
             request.open("POST", origin + "/api/clear");
             request.withCredentials = true;
             request.onload = resolve;
             request.onerror = () => reject(new Error("refused"));
             request.send("{}");
           })`,
        ],
      ] as const) {
        it(`does nothing and reads nothing ${what}`, async () => {
          await expect(attack(page, `${body}.then(() => "done")`)).rejects.toThrow();
          expectUntouched();
        });
      }

      it("does nothing by a fetch that asks for no answer, a beacon, or a request that outlives the page", async () => {
        let settled = 0;
        for (const event of ["requestfinished", "requestfailed"] as const) {
          context.on(event as "requestfinished", (request) => {
            if (request.url().includes("/api/clear")) settled += 1;
          });
        }
        await attack(
          page,
          `for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
             const headers = { "content-type": type };
             const sent = { method: "POST", mode: "no-cors", credentials: "include", keepalive: true, headers, body: "{}" };
             fetch(origin + "/api/clear", sent).catch(() => undefined);
             navigator.sendBeacon(origin + "/api/clear", new Blob(["{}"], { type }));
             navigator.sendBeacon(origin + "/api/clear?token=" + token, new Blob(["{}"], { type }));
           }`,
        );
        await expect.poll(() => settled).toBe(6);
        expectUntouched();
      });

      for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
        it(`does nothing by a form of ${type}`, async () => {
          const answered = page.waitForResponse((response) => response.url().includes("/api/clear"));
          await attack(
            page,
            `const form = Object.assign(document.createElement("form"), { method: "post", action: origin + "/api/clear" });
             form.enctype = ${JSON.stringify(type)};
             const field = Object.assign(document.createElement("input"), { name: '{"a":"', value: '"}' });
             form.append(field);
             document.body.append(form);
             form.submit();`,
          );
          expect((await answered).status()).toBe(403);
          expectUntouched();
        });
      }

      it("does not follow the events by an EventSource or a WebSocket", async () => {
        const outcome = await attack(
          page,
          `const source = new EventSource(origin + "/api/events?token=" + token, { withCredentials: true });
           const socket = new WebSocket(origin.replace("http", "ws") + "/api/events?token=" + token);
           return Promise.all([source, socket].map((one) => new Promise((resolve) => {
             one.onopen = () => resolve("open");
             one.onerror = () => resolve("refused");
           })));`,
        );
        expect(outcome).toEqual(["refused", "refused"]);
        expectUntouched();
      });

      it("does not embed a file of it as a script, style, image, object or frame", async () => {
        const outcome = await attack(
          page,
          `const embed = (name, attributes) => new Promise((resolve) => {
             const element = document.createElement(name);
             element.onload = () => resolve("loaded");
             element.onerror = () => resolve("refused");
             for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
             document.body.append(element);
           });
           return Promise.all([
             embed("script", { src: origin + "/inspector.js" }),
             embed("script", { src: origin + "/inspector.js", type: "module" }),
             embed("script", { src: origin + "/?token=" + token }),
             embed("link", { href: origin + "/inspector.css", rel: "stylesheet" }),
             embed("img", { src: origin + "/?token=" + token }),
             embed("object", { data: origin + "/?token=" + token }),
           ]);`,
        );
        expect(outcome).toEqual(Array(6).fill("refused"));
        expectUntouched();
      });

      it("does not frame the page, even with the token", async () => {
        const answered = page.waitForResponse((response) => response.url().startsWith(keys.origin));
        await attack(
          page,
          `const frame = document.createElement("iframe");
           frame.src = origin + "/?token=" + token;
           document.body.append(frame);`,
        );
        expect((await answered).status()).toBe(403);
        // The browser shows a page of its own in place of what was refused.
        await expect.poll(() => page.frames().map((frame) => frame.url())).toContain("chrome-error://chromewebdata/");
        for (const frame of page.frames().slice(1)) {
          await expect.poll(() => frame.content()).not.toContain("inspector.js");
        }
        expectUntouched();
      });

      it("does not open the page in a window that it holds", async () => {
        const [opened] = await Promise.all([
          context.waitForEvent("page"),
          attack(page, `globalThis.held = window.open(origin + "/?token=" + token)`),
        ]);
        await opened.waitForURL(`${keys.origin}/**`);
        const outcome = await attack(page, `try { return held.document.title; } catch { return "refused"; }`);
        expect(outcome).toBe("refused");
        expect(await opened.content()).not.toContain("inspector.js");
        expectUntouched();
      });

      for (const [way, leave] of [
        ["a script", `location.href = origin + "/"`],
        ["a redirect", `location.href = "/to?" + encodeURIComponent(origin + "/?token=" + token)`],
        [
          "a link without a referrer",
          `const link = document.createElement("a");
           Object.assign(link, { href: origin + "/?token=" + token, rel: "noreferrer" });
           document.body.append(link);
           link.click();`,
        ],
      ] as const) {
        it(`does not send the user there by ${way}`, async () => {
          const answered = page.waitForResponse((response) => response.url().startsWith(keys.origin));
          await attack(page, leave);
          expect((await answered).status()).toBe(403);
          await page.getByText("links from other pages do not work").waitFor();
          expectUntouched();
        });
      }

      it("does not find it in a cache", async () => {
        const outcome = await attack(
          page,
          `return Promise.all(["/", "/inspector.js", "/inspector.css"].map((path) =>
             fetch(origin + path, { cache: "only-if-cached", mode: "same-origin" }).then(() => "cached", () => "not there")));`,
        );
        expect(outcome).toEqual(["not there", "not there", "not there"]);
        const [entry] = (await attack(
          page,
          `await fetch(origin + "/inspector.js", { mode: "no-cors", cache: "force-cache" }).catch(() => undefined);
           return performance.getEntriesByName(origin + "/inspector.js").map(({ decodedBodySize, responseStatus }) => decodedBodySize + responseStatus)`,
        )) as number[];
        expect(entry ?? 0).toBe(0);
      });
    });
  }

  it("gets nothing by a name that is turned to this machine after it was loaded", async () => {
    const page = await foreign("evil.example");
    const rebound = `http://rebound.example:${keys.port}`;
    const navigated = await page.goto(`${rebound}/?token=${keys.token}`);
    expect(navigated?.status()).toBe(403);
    // The document of the refusal is of that origin, and asks its own origin: the browser sees nothing foreign in it.
    const outcome = await attack(
      page,
      `const headers = { "content-type": "application/json", "x-parley-token": token };
       const answer = await fetch("/api/clear", { method: "POST", headers, body: "{}" });
       const events = await fetch("/api/events", { headers });
       return [answer.status, events.status];`,
    );
    expect(outcome).toEqual([403, 403]);
    expectUntouched();
  });

  it("gets nothing under the other name of this machine, whose page has neither cookie nor storage of the first", async () => {
    const page = await context.newPage();
    const navigated = await page.goto(`http://localhost:${keys.port}/`);
    expect(navigated?.status()).toBe(403);
    await expect(attack(page, `return fetch(origin + "/api/clear", { method: "POST", body: "{}" })`)).rejects.toThrow();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    expectUntouched();
  });

  it("cannot use the cookie that its own server is sent, and cannot read or replace it", async () => {
    const page = await foreign("127.0.0.1");
    const [arrival] = site.arrivals();
    // Ports share cookies; this is why the cookie alone opens nothing.
    expect(arrival?.cookie).toMatch(/^parley-inspector-/);
    const headers = [
      ...actionHeaders(keys, { Cookie: arrival?.cookie ?? "", "X-Parley-Token": null }),
      "Content-Length: 2",
    ];
    expect((await sendRaw(keys.port, requestText("POST", "/api/clear", headers, "{}"))).status).toBe(401);
    const name = `parley-inspector-${keys.port}`;
    const seen = await page.evaluate(
      `document.cookie = "${name}=planted; path=/"; document.cookie = "${name}=planted; path=/api"; document.cookie`,
    );
    expect(seen).toBe("");
    expectUntouched();
  });

  it("cannot do more from the origin of the sandbox", async () => {
    const page = await context.newPage();
    await page.goto(engine.sandbox);
    await expect(
      attack(
        page,
        `return fetch(origin + "/api/clear", { method: "POST", credentials: "include", body: "{}", headers: { "x-parley-token": token } })`,
      ),
    ).rejects.toThrow();
    expectUntouched();
  });

  it("cannot frame the sandbox", async () => {
    const page = await foreign("evil.example");
    const refused = page.waitForEvent("console", (message) => message.text().includes("frame-ancestors"));
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement("iframe"), { src: ${JSON.stringify(engine.sandbox)} }))`,
    );
    expect((await refused).text()).toContain("frame-ancestors");
  });
});
