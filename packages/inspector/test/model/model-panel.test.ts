import { Server } from "@parley/mcp";
import { describe, expect, it, onTestFinished } from "vitest";
import { serverTarget } from "../engine/opened-engine.js";
import { startHostileServer } from "../hostile/hostile-server.js";
import { hasBrowser } from "../kit/inspected-page.js";
import { goTo, openPage, urlTarget, whenReady } from "../page/page-session.js";

const LIST = "Tools as the model sees them";

describe.skipIf(!hasBrowser)("the view of a model", () => {
  it("sorts by cost or by name, and narrows while typing", async () => {
    const server = new Server({ name: "w", version: "1" })
      .tool("a_cheap", {}, () => "")
      .tool("z_dear", { description: "Costs much. ".repeat(40) }, () => "");
    const { page } = await openPage({ targets: [serverTarget(server)] });
    await whenReady(page);
    await goTo(page, "Model");
    const names = () => page.getByRole("listbox", { name: LIST }).locator(".model-name").allTextContents();
    await expect.poll(names).toEqual(["z_dear", "a_cheap"]);
    await page.getByRole("button", { name: "By name" }).click();
    await expect.poll(names).toEqual(["a_cheap", "z_dear"]);
    await page.getByRole("searchbox", { name: "Search tools" }).fill("dear");
    await expect.poll(names).toEqual(["z_dear"]);
    await page.getByRole("searchbox", { name: "Search tools" }).fill("nothing");
    await page.getByText("No tool matches the search.").waitFor();
  });

  it("stays small with ten thousand tools", async () => {
    const server = new Server({ name: "many", version: "1" }, { pageSize: 1_000 });
    for (let at = 0; at < 10_000; at++)
      server.tool(`tool_${at}`, { description: "Does one of many things." }, () => "");
    const { page } = await openPage({ targets: [serverTarget(server)] });
    await whenReady(page);
    await goTo(page, "Model");
    const list = page.getByRole("listbox", { name: LIST });
    await list.getByRole("option").first().waitFor();
    await list.focus();
    for (const key of ["ArrowDown", "End", "PageUp", "Home", "ArrowDown"]) await page.keyboard.press(key);
    await page.getByRole("region", { name: "What the model gets" }).waitFor();
    expect(await list.getByRole("option").count()).toBeLessThan(100);
    await page.getByRole("searchbox", { name: "Search tools" }).fill("tool_9999");
    await expect.poll(() => list.getByRole("option").count()).toBe(1);
  });

  it("shows the tools of a hostile server as text alone", async () => {
    const hostile = await startHostileServer();
    onTestFinished(() => hostile.close());
    const { page, requests, problems } = await openPage({ targets: [urlTarget(hostile.url)] });
    await whenReady(page);
    await goTo(page, "Model");
    const list = page.getByRole("listbox", { name: LIST });
    await list.getByRole("option").first().waitFor();
    await list.focus();
    for (let moved = 0; moved < 30; moved++) await page.keyboard.press("ArrowDown");
    await page.getByRole("region", { name: "What the server sent" }).waitFor();
    expect(await page.evaluate("globalThis.hacked")).toBeUndefined();
    expect(await page.locator("main script, main img, main iframe, main form[action], main a[href]").count()).toBe(0);
    const { origin } = new URL(page.url());
    expect(requests.filter((url) => !url.startsWith(origin))).toEqual([]);
    expect(hostile.arrivals).toEqual([]);
    expect(problems).toEqual([]);
  });
});
