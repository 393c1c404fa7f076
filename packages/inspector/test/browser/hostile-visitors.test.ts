import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClientTarget } from "../../../mcp/test/auth/client-target.js";
import type { IssuerBehaviour } from "../../../mcp/test/auth/test-issuer.js";
import { ERAS } from "../engine/opened-engine.js";
import { payloadsFor } from "../hostile/payloads.js";
import { openWatchedPage, type WatchedPage } from "../hostile/watched-page.js";
import { hasBrowser } from "../kit/inspected-page.js";
import { actInPage, goTo, timelineOf } from "../page/page-session.js";
import { resultOf, runTool } from "./call-steps.js";
import { connectToUrl, shownConnection } from "./connect-steps.js";

const SCRIPT = "<script>globalThis.hacked = true</script>";

describe.skipIf(!hasBrowser)("what others bring into the page", () => {
  let watched: WatchedPage;
  let page: Page;

  beforeAll(async () => {
    watched = await openWatchedPage({}, { flood: 5 });
    page = watched.page;
  });
  afterAll(() => watched?.close());

  describe("a recording", () => {
    const importFile = async (name: string, text: string) => {
      await goTo(page, "Session");
      await page.getByLabel(/^Choose a recording/).setInputFiles({ name, mimeType: "", buffer: Buffer.from(text) });
    };

    it.each([
      ["no recording", `${SCRIPT}`],
      ["a page", `<!doctype html><body onload="hacked = true">${SCRIPT}`],
      ["nested without end", "[".repeat(200_000)],
      ["an object with a prototype", '{"__proto__": {"polluted": true}, "format": "<img src=x onerror=alert(1)>"}'],
      ["lines that are no messages", '{"format":"parley-recording","version":1}\n{"message":{"jsonrpc":3}}\nnull\n7'],
    ])("that is %s is refused, with what is wrong", async (_what, text) => {
      await importFile(`${SCRIPT}.jsonl`, text);
      await page.getByRole("note", { name: "Problem" }).waitFor();
      expect(await page.evaluate("({}).polluted")).toBeUndefined();
      await watched.expectUnharmed();
      await goTo(page, "Timeline");
    });

    it("of a hostile server, under a hostile name, is shown without harm", async () => {
      await connectToUrl(page, watched.hostile.url);
      await shownConnection(page, "ready");
      for (const tool of ["markdown", "flood"]) {
        await runTool(page, tool);
        await resultOf(page).waitFor();
      }
      const { text } = await actInPage(page, "exportSession", { connection: "c1" });
      expect(text).toContain(SCRIPT);
      await importFile(`"><img src=x onerror='hacked = true'>\u202ejsonl.exe`, text);
      await shownConnection(page, "imported session");
      for (const view of ["Server", "Use", "Timeline", "Model", "Eras", "Session"]) {
        await goTo(page, view);
        await watched.expectUnharmed();
      }
      await goTo(page, "Timeline");
      await timelineOf(page).press("End");
      for (const tab of ["Message", "Headers", "Waterfall", "Copy as"]) {
        await page.getByRole("tab", { name: tab }).click();
        await watched.expectUnharmed();
      }
    });
  });

  describe("a login", () => {
    const issue = (intercept: IssuerBehaviour["intercept"], metadata = {}) =>
      ClientTarget.start({}, { ...(intercept === undefined ? {} : { intercept }), metadata });
    const refusing =
      (path: string): IssuerBehaviour["intercept"] =>
      (request, response) => {
        if (request.path !== path) return false;
        const error = {
          error: SCRIPT,
          error_description: payloadsFor("http://127.0.0.1:1").join(" "),
          error_uri: SCRIPT,
        };
        response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(error));
        return true;
      };

    it.each([
      ["javascript:globalThis.hacked = true"],
      ["data:text/html,<script>opener.hacked = true</script>"],
      ["file:///etc/passwd"],
      ["http://user:password@127.0.0.1:1/authorize"],
      [`"><script>globalThis.hacked = true</script>`],
    ])("whose page is %s is not offered", async (authorization_endpoint) => {
      const { url } = await issue(undefined, { authorization_endpoint });
      await connectToUrl(page, url);
      await shownConnection(page, "failed");
      await goTo(page, "Server");
      await page.getByRole("note", { name: "Problem" }).first().waitFor();
      expect(await page.getByRole("button", { name: "Open the login page" }).count()).toBe(0);
      await watched.expectUnharmed();
    });

    it("whose registration is refused in markup shows the words alone", async () => {
      const { url } = await issue(refusing("/register"));
      await connectToUrl(page, url);
      await shownConnection(page, "failed");
      await goTo(page, "Server");
      expect(await page.getByRole("note", { name: "Problem" }).first().textContent()).toContain("<script>");
      await watched.expectUnharmed();
    });

    it("whose challenge is markup shows the words alone", async () => {
      const target = await ClientTarget.start({ challenge: `Bearer error="${SCRIPT}", scope="${SCRIPT}"` });
      await connectToUrl(page, target.url);
      await shownConnection(page, /waiting for login|failed/);
      await goTo(page, "Server");
      await watched.expectUnharmed();
    });
  });

  it.each(ERAS)("an app that tries everything reaches nothing, in %s", async (revision) => {
    await connectToUrl(page, watched.hostile.url, { revision });
    await shownConnection(page, `ready · ${revision}`);
    const before = await page.evaluate(() => sessionStorage.getItem("parley-inspector-token"));
    await runTool(page, "app");
    const app = page.getByRole("region", { name: "App of the tool" });
    const inner = app.frameLocator("iframe").frameLocator("iframe");
    await inner.getByText(/^reached/).waitFor();
    expect(await inner.locator("#report").textContent()).toBe("reached nothing of 21");
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await page.evaluate(() => sessionStorage.getItem("parley-inspector-token"))).toBe(before);
    await watched.expectUnharmed({ app: true });
    await goTo(page, "Timeline");
    await timelineOf(page).getByRole("option").first().waitFor();
  });

  it("a server that asks again and again keeps nobody from leaving it", async () => {
    await connectToUrl(page, watched.hostile.url, { revision: ERAS[0] });
    await shownConnection(page, `ready · ${ERAS[0]}`);
    await runTool(page, "nags");
    const question = page.getByRole("dialog", { name: /asks you$/ });
    await question.waitFor();
    // Between two questions there is none that Escape could put aside.
    const isPutAside = async () => {
      await page.keyboard.press("Escape");
      return page.getByRole("button", { name: "1 question is waiting" }).isVisible();
    };
    await expect.poll(isPutAside).toBe(true);
    const messages = page.getByRole("tab", { name: /^Timeline/ });
    const before = await messages.textContent();
    await expect.poll(() => messages.textContent()).not.toBe(before);
    expect(await question.count()).toBe(0);
    await goTo(page, "Server");
    await page.getByRole("button", { name: "Disconnect" }).click();
    await shownConnection(page, "closed");
  });
});
