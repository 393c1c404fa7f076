import { Server } from "@parley/mcp";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { serverTarget } from "../engine/opened-engine.js";
import { barriers } from "../kit/barriers.js";
import { hasBrowser } from "../kit/inspected-page.js";
import { goByKeys, goTo, openPage, startWrongServer, timelineOf, urlTarget, whenReady } from "./page-session.js";

const server = () => new Server({ name: "weather", version: "1" }).tool("forecast", {}, () => "sunny");
const chosenView = (page: Page) =>
  page.getByRole("tablist", { name: "Views" }).getByRole("tab", { selected: true }).textContent();
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent ?? "");

describe.skipIf(!hasBrowser)("the frame of the page", () => {
  test("goes to a view by keys, keeps it in the address, and comes back by the browser", async () => {
    const { page } = await openPage({ targets: [serverTarget(server())] });
    await whenReady(page);
    for (const [key, view, name] of [
      ["s", "Server", "server"],
      ["t", "Timeline", "timeline"],
      ["k", "Session", "session"],
    ] as const) {
      await goByKeys(page, key);
      await expect.poll(() => chosenView(page)).toContain(view);
      await expect.poll(() => new URL(page.url()).hash).toContain(`#${name}`);
      await expect.poll(() => page.title()).toContain(view);
    }
    await page.keyboard.press("Alt+1");
    await expect.poll(() => chosenView(page)).toBe("Server");
    await page.goBack();
    await expect.poll(() => chosenView(page)).toBe("Session");
    await page.reload();
    await expect.poll(() => chosenView(page)).toBe("Session");
  });

  test("leaves keys to fields, and `/` goes to the search of the view", async () => {
    const { page } = await openPage({ targets: [serverTarget(server())] });
    await goTo(page, "Timeline");
    await page.keyboard.press("/");
    await page.keyboard.type("gs?/");
    await expect.poll(() => page.getByRole("searchbox", { name: "Filter by text" }).inputValue()).toBe("gs?/");
    expect(await chosenView(page)).toContain("Timeline");
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  test("explains its keys, keeps the focus in the dialog, and gives it back", async () => {
    const { page } = await openPage({ targets: [serverTarget(server())] });
    await page.getByRole("tab", { name: "Server" }).click();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("go to Timeline").waitFor();
    await goByKeys(page, "t");
    expect(await chosenView(page)).toBe("Server");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => focused(page)).toBe("Server");
  });

  test("begins with a way past the connections", async () => {
    const { page } = await openPage({ targets: [serverTarget(server())] });
    await page.keyboard.press("Tab");
    await expect.poll(() => focused(page)).toBe("Skip to main content");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("MAIN");
  });

  test("says aloud when a connection changes", async () => {
    const { page } = await openPage({ targets: [serverTarget(server())] });
    await whenReady(page);
    await page.getByRole("tab", { name: "Server" }).click();
    await page.getByRole("button", { name: "Disconnect" }).click();
    await expect.poll(() => page.getByRole("status").first().textContent()).toContain("weather: closed");
  });

  test("is dark or light as the system is, or as the user chose, also after a reload", async () => {
    const { page } = await openPage({}, { colorScheme: "dark" });
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await paper();
    await page.getByLabel("Theme").selectOption("light");
    await expect.poll(paper).not.toBe(dark);
    const light = await paper();
    await page.reload();
    await page.getByRole("tab", { name: "Timeline" }).waitFor();
    await expect.poll(paper).toBe(light);
    await page.getByLabel("Theme").selectOption("system");
    await expect.poll(paper).toBe(dark);
  });

  test("says that the inspector has ended, and shows no call as running any more", async () => {
    const waiting = new Server({ name: "waiting", version: "1" }).tool("wait", {}, () => new Promise(() => undefined));
    const { page, inspector } = await openPage({ targets: [serverTarget(waiting)] });
    await page.getByRole("option", { name: "wait" }).click();
    await page.getByRole("button", { name: /^Run/ }).click();
    await page.getByRole("progressbar").waitFor();
    await inspector.close();
    await page.getByRole("alert").getByText("The inspector has stopped").waitFor();
    await page.getByText("The inspector stopped while this call was running.").waitFor();
    await expect.poll(() => page.getByRole("progressbar").count()).toBe(0);
  });

  test("says how to open it where the tab has no token", async () => {
    const { page, inspector } = await openPage({});
    const other = await page.context().newPage();
    await other.goto(new URL("/", inspector.url).href);
    const text = await other.locator("body").textContent();
    expect(text).toContain("parley inspect");
  });

  for (const [what, more] of [
    ["light", {}],
    ["dark", { colorScheme: "dark" }],
    ["320 pixels wide", { viewport: { width: 320, height: 640 } }],
    ["at 200 %", { viewport: { width: 640, height: 400 } }],
  ] as const) {
    test(`has no barrier that axe knows, and nothing beyond its edge, ${what}`, async () => {
      const { page, problems } = await openPage({ targets: [urlTarget(await startWrongServer())] }, more);
      await whenReady(page);
      for (const view of ["Server", "Timeline"]) {
        await goTo(page, view);
        if (view === "Timeline") await timelineOf(page).getByRole("option", { name: /sent/ }).first().click();
        expect(await barriers(page), view).toEqual([]);
        const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(beyond, view).toBeLessThanOrEqual(0);
      }
      for (const tab of ["Headers", "Waterfall", "Copy as"]) {
        await page.getByRole("tab", { name: tab }).click();
        expect(await barriers(page), tab).toEqual([]);
      }
      await page.keyboard.press("?");
      expect(await barriers(page), "help").toEqual([]);
      expect(problems).toEqual([]);
    });
  }
});
