import { Server, ToolError } from "@parley/mcp";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { ERAS, serverTarget } from "../engine/opened-engine.js";
import { hasBrowser } from "../kit/inspected-page.js";
import { actInPage, goTo, openPage, startWrongServer, timelineOf, urlTarget, whenReady } from "./page-session.js";

const server = () =>
  new Server({ name: "weather", version: "1" })
    .tool("forecast", { input: { type: "object", properties: { city: { type: "string" } } } }, async ({ city }, c) => {
      for (const progress of [1, 2, 3]) await c.progress(progress, { total: 3 });
      return `sunny in ${city}`;
    })
    .tool("breaks", {}, () => {
      throw new ToolError("no weather");
    });

/** Calls a tool, and waits until its answer is in the timeline. */
async function callTool(page: Page, name: string, argument: Record<string, unknown> = {}): Promise<void> {
  const connection = await shownConnection(page);
  await actInPage(page, "call", { connection, request: { kind: "tool", name, arguments: argument } });
  await timelineOf(page)
    .getByRole("option", { name: new RegExp(`received.*result.*tools/call.*${name}`) })
    .first()
    .waitFor();
}

/** The id of the connection, which the address has once it is chosen. */
async function shownConnection(page: Page): Promise<string> {
  await page.getByRole("navigation", { name: "Connections" }).locator("button[aria-current]").click();
  const id = () => new URL(page.url()).hash.split("/")[1];
  await expect.poll(id).toMatch(/./);
  return id() ?? "";
}

describe.skipIf(!hasBrowser).each(ERAS)("the timeline, in %s", (revision) => {
  test("shows every message with its direction, and what belongs together", async () => {
    const { page, problems } = await openPage({ targets: [serverTarget(server())], revision });
    await page.getByText(`ready · ${revision}`).first().waitFor();
    await goTo(page, "Timeline");
    await callTool(page, "forecast", { city: "Oslo" });
    const request = timelineOf(page).getByRole("option", { name: /sent.*request.*tools\/call.*forecast/ });
    await request.click();
    await page.getByText("Matches the published schema").waitFor();
    await expect.poll(() => page.locator(".timeline-paired").textContent()).toContain("result");
    await page.getByRole("button", { name: "Go to response" }).click();
    await page.getByRole("region", { name: "Message" }).getByText("sunny in Oslo").first().waitFor();
    await page.getByRole("button", { name: "Go to request" }).click();
    await page.getByRole("region", { name: "Message" }).getByText('"Oslo"').first().waitFor();
    expect(problems).toEqual([]);
  });

  test("draws a call over time, with its notifications, and says it in a table", async () => {
    const { page } = await openPage({ targets: [serverTarget(server())], revision });
    await page.getByText(`ready · ${revision}`).first().waitFor();
    await goTo(page, "Timeline");
    await callTool(page, "forecast", { city: "Oslo" });
    await timelineOf(page)
      .getByRole("option", { name: /sent.*request.*tools\/call/ })
      .click();
    await page.getByRole("tab", { name: "Waterfall" }).click();
    const table = page.getByRole("table", { name: "This call" });
    await table.getByRole("row", { name: /notifications\/progress.*3 ×/ }).waitFor();
    await expect.poll(() => table.getByRole("row", { name: /tools\/call forecast request/ }).count()).toBe(1);
  });
});

describe.skipIf(!hasBrowser)("the timeline", () => {
  test("is narrowed by text, direction, kind, method and failure, and shows all again", async () => {
    const { page } = await openPage({ targets: [serverTarget(server())] });
    await goTo(page, "Timeline");
    await whenReady(page);
    await callTool(page, "forecast", { city: "Oslo" });
    await callTool(page, "breaks");
    const rows = timelineOf(page).getByRole("option");
    const texts = async () => (await rows.allTextContents()).join("\n");
    await page.getByRole("searchbox", { name: "Filter by text" }).fill("BREAKS");
    await expect.poll(() => rows.count()).toBe(2);
    await page.keyboard.press("Escape");
    await page.getByLabel("Direction").selectOption("received");
    await expect.poll(texts).not.toContain("sent");
    await page.getByLabel("Direction").selectOption("");
    await page.getByLabel("Kind", { exact: true }).selectOption("result");
    await expect.poll(texts).not.toContain("request");
    await page.getByLabel("Kind", { exact: true }).selectOption("");
    await page.getByLabel("Method").selectOption("tools/call");
    await expect.poll(() => rows.count()).toBe(4);
    await page.getByLabel("Only failures").check();
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole("button", { name: "Show all" }).click();
    // More may come meanwhile, so that the list is compared to what its tab counts.
    const counted = page.getByRole("tab", { name: /^Timeline/ }).locator(".parts-count");
    await expect
      .poll(async () => (await rows.first().getAttribute("aria-setsize")) === (await counted.textContent()))
      .toBe(true);
  });

  test("shows what a server got wrong beside the line where it is wrong", async () => {
    const { page } = await openPage({ targets: [urlTarget(await startWrongServer())], revision: "2025-11-25" });
    await page.getByText("ready · 2025-11-25").first().waitFor();
    await goTo(page, "Timeline");
    await actInPage(page, "list", { connection: await shownConnection(page), kind: "tools" }).catch(() => undefined);
    await page.getByLabel("Only problems").check();
    await timelineOf(page)
      .getByRole("option", { name: /problem.*tools\/list/ })
      .first()
      .click();
    await page.getByText("Violates the published schema").waitFor();
    const places = await page.getByRole("list", { name: "Schema violations" }).getByRole("listitem").allTextContents();
    expect(places.join("\n")).toContain("/result/tools/1/name");
    const wrong = await page.locator(".timeline-wrong-line").allTextContents();
    expect(wrong.some((line) => line.includes('"name": 12') && line.includes("⚠"))).toBe(true);
    expect(wrong.some((line) => line.includes('"fine"'))).toBe(false);
  });

  test("shows the headers of a message, and copies it as commands and code", async () => {
    const url = await startWrongServer();
    const { page } = await openPage({ targets: [urlTarget(url)], revision: "2025-11-25" });
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByText("ready · 2025-11-25").first().waitFor();
    await goTo(page, "Timeline");
    await timelineOf(page)
      .getByRole("option", { name: /sent.*request.*initialize/ })
      .click();
    await page.getByRole("tab", { name: "Headers" }).click();
    await page.getByRole("table", { name: "Request headers" }).getByRole("rowheader", { name: "accept" }).waitFor();
    await page
      .getByRole("table", { name: "Response headers" })
      .getByRole("cell", { name: "application/json" })
      .waitFor();
    await page.getByRole("tab", { name: "Copy as" }).click();
    await page.getByRole("button", { name: "Copy as curl" }).click();
    await page.getByText("Copied to the clipboard").waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain("curl");
    expect(copied).toContain(url);
    expect(await page.getByRole("region", { name: "curl" }).textContent()).toBe(copied);
  });

  test("has only visible rows in the document, and follows its end until the reader scrolls away", async () => {
    const { page } = await openPage({ targets: [serverTarget(server())] });
    await goTo(page, "Timeline");
    await whenReady(page);
    const connection = await shownConnection(page);
    const ping = () =>
      actInPage(page, "call", { connection, request: { kind: "tool", name: "breaks", arguments: {} } });
    for (let at = 0; at < 60; at += 1) await ping();
    // Calls alone, so that it is known how many rows there are: one that comes while the reader scrolls would take him back to the end.
    await page.getByLabel("Method").selectOption("tools/call");
    const list = timelineOf(page);
    const fromEnd = () => list.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
    await expect.poll(() => list.evaluate((box) => box.scrollHeight / 30)).toBe(120);
    await expect.poll(fromEnd).toBeLessThan(2);
    expect(await list.getByRole("option").count()).toBeLessThan(60);
    const follow = page.getByRole("button", { name: "Follow" });
    await list.evaluate((box) => box.scrollTo({ top: 300 }));
    await expect.poll(() => follow.getAttribute("aria-pressed")).toBe("false");
    await ping();
    await expect.poll(() => list.evaluate((box) => box.scrollHeight / 30)).toBe(122);
    expect(await list.evaluate((box) => box.scrollTop)).toBe(300);
    await follow.click();
    await expect.poll(fromEnd).toBeLessThan(2);
  });

  test("is walked through by the keyboard alone", async () => {
    const { page } = await openPage({ targets: [serverTarget(server())] });
    await goTo(page, "Timeline");
    await whenReady(page);
    await callTool(page, "forecast", { city: "Oslo" });
    await callTool(page, "breaks");
    await page.getByLabel("Method").selectOption("tools/call");
    const list = timelineOf(page);
    const chosen = () => list.locator("[aria-selected=true]").getAttribute("aria-posinset");
    await list.focus();
    await page.keyboard.press("Home");
    await expect.poll(chosen).toBe("1");
    for (const [key, place] of [
      ["j", "2"],
      ["ArrowDown", "3"],
      ["k", "2"],
      ["End", "4"],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(chosen).toBe(place);
    }
    const active = await list.getAttribute("aria-activedescendant");
    expect(await page.locator(`[id="${active}"]`).getAttribute("aria-selected")).toBe("true");
  });

  test("is cleared only after the user was asked", async () => {
    const { page } = await openPage({ targets: [serverTarget(server())] });
    await goTo(page, "Timeline");
    await whenReady(page);
    await callTool(page, "breaks");
    // Calls alone: of other messages more may come at any time.
    await page.getByLabel("Method").selectOption("tools/call");
    const rows = timelineOf(page).getByRole("option");
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole("button", { name: "Clear…" }).click();
    await page.keyboard.press("Escape");
    expect(await rows.count()).toBe(2);
    await page.getByRole("button", { name: "Clear…" }).click();
    await page.getByRole("button", { name: "Clear timeline" }).click();
    await expect.poll(() => rows.count()).toBe(0);
  });
});
