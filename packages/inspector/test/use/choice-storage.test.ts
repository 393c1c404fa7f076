import { Server } from "@parley/mcp";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { serverTarget } from "../engine/opened-engine.js";
import { hasBrowser } from "../kit/inspected-page.js";
import { goTo, openPage } from "../page/page-session.js";

const STORED = "parley-inspector-choices";
const input = { type: "object", properties: { place: { type: "string" }, password: { type: "string" } } } as const;

function weather(): Server {
  return new Server({ name: "weather", version: "1" })
    .tool("forecast", { input }, () => "sunny")
    .tool("history", {}, () => "rainy")
    .prompt("report", {}, () => "Write a report.");
}

const option = (page: Page, name: string) => page.getByRole("option").filter({ hasText: name });
const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true, level: 2 });
const stored = (page: Page) => page.evaluate((key) => sessionStorage.getItem(key), STORED);

/** Chooses a tool of the connection that is shown. */
async function choose(page: Page, name: string): Promise<void> {
  await option(page, name).click();
  await heading(page, name).waitFor();
}

/** Waits until the list of tools is read and none of them is chosen. */
async function nothingChosen(page: Page): Promise<void> {
  await option(page, "history").waitFor();
  await page.getByText("Select a tool").waitFor();
  expect(await page.getByRole("heading", { level: 2, name: /forecast|history/ }).count()).toBe(0);
}

describe.skipIf(!hasBrowser)("what is chosen of a server", () => {
  it("is chosen again after a reload, for each connection, and nothing that was typed is kept", async () => {
    const { page, problems } = await openPage({ targets: [serverTarget(weather()), serverTarget(weather())] });
    const connections = page.getByRole("navigation", { name: "Connections" }).getByRole("button", { name: /^weather/ });
    await expect.poll(() => connections.count()).toBe(2);
    await choose(page, "forecast");
    for (const field of ["place", "password"]) await page.getByLabel(field, { exact: true }).fill(`typed ${field}`);
    await connections.nth(1).click();
    await page.getByRole("tab", { name: /^Prompts/ }).click();
    await choose(page, "report");
    await expect.poll(() => stored(page)).toContain("report");
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain("typed");

    await page.reload();
    await heading(page, "report").waitFor();
    await page.getByRole("tab", { name: /^Prompts/, selected: true }).waitFor();
    await connections.nth(0).click();
    await heading(page, "forecast").waitFor();
    await expect.poll(() => option(page, "forecast").getAttribute("aria-selected")).toBe("true");
    expect(await page.getByLabel("place", { exact: true }).inputValue()).toBe("");
    await page.getByRole("tab", { name: "Request" }).click();
    await heading(page, "Custom request").waitFor();
    await goTo(page, "Timeline");

    await page.reload();
    await goTo(page, "Use");
    await heading(page, "Custom request").waitFor();
    expect(problems).toEqual([]);
  });

  it("is not chosen where it is no longer there", async () => {
    const server = weather();
    const { page } = await openPage({ targets: [serverTarget(server)] });
    await choose(page, "forecast");
    await expect.poll(() => stored(page)).toContain("forecast");
    server.remove("tool", "forecast");
    await page.reload();
    await nothingChosen(page);
  });

  it("is nothing where the storage holds something else, of which nothing is shown", async () => {
    const { page, problems } = await openPage({ targets: [serverTarget(weather())] });
    const odd = '<img src=x onerror="globalThis.hacked = true">garbage';
    for (const garbage of [
      odd,
      '{"chosen c1 tools":"forecast"}',
      JSON.stringify([
        odd,
        7,
        null,
        [],
        ["chosen c1 tools", 7],
        ["chosen c1 tools", "forecast", 1],
        ["tab c1", "__proto__"],
      ]),
      // The server lists no resources.
      JSON.stringify([
        ["tab c1", "resources"],
        ["chosen c1 resources", odd],
        ["chosen c1 tools", odd],
      ]),
    ]) {
      await page.evaluate(([key, text]) => sessionStorage.setItem(String(key), String(text)), [STORED, garbage]);
      await page.reload();
      await nothingChosen(page);
      expect(await page.locator("body").textContent(), garbage).not.toContain("garbage");
    }
    expect(await page.evaluate("globalThis.hacked")).toBeUndefined();
    await choose(page, "forecast");
    await page.reload();
    await heading(page, "forecast").waitFor();
    expect(problems).toEqual([]);
  });

  it("can be chosen where the storage is full", async () => {
    const { page, problems } = await openPage({ targets: [serverTarget(weather())] });
    await option(page, "history").waitFor();
    await page.evaluate(() => {
      for (let size = 8 * 1024 * 1024; size >= 1; size /= 2) {
        try {
          sessionStorage.setItem(`filler ${size}`, "x".repeat(size));
        } catch {
          // There was no room for as much.
        }
      }
    });
    await choose(page, "forecast");
    await choose(page, "history");
    await page.reload();
    await nothingChosen(page);
    expect(problems).toEqual([]);
  });
});
