import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { resultOf, runTool } from "../browser/call-steps.js";
import { connectToUrl, shownConnection } from "../browser/connect-steps.js";
import { ERAS } from "../engine/opened-engine.js";
import { openWatchedPage } from "../hostile/watched-page.js";
import { hasBrowser } from "../kit/inspected-page.js";
import { goTo, timelineOf } from "../page/page-session.js";

/** The longest that the page may do nothing else. */
const BOUND_MS = 1_000;
const TOOLS = 10_000;
/** More messages than the timeline keeps. */
const FLOOD = 30_000;

/** Notes the tasks of the page that take long; what it gives reads the longest since it was last read. */
async function watchTasks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const tasks: number[] = [];
    Object.assign(globalThis, { tasks });
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
      type: "longtask",
    });
  });
  return () => page.evaluate("Math.max(0, ...globalThis.tasks.splice(0))");
}

describe.runIf(hasBrowser)("the page", () => {
  it("is never busy for 1 s at a time, however much a server sends", async () => {
    const watched = await openWatchedPage({}, { tools: TOOLS, flood: FLOOD });
    onTestFinished(() => watched.close());
    const { page, hostile } = watched;
    const longest = await watchTasks(page);
    const measured: Record<string, number> = {};
    const search = page.getByRole("searchbox", { name: "Search tools" });
    const filter = page.getByRole("searchbox", { name: "Filter by text" });
    const steps: Readonly<Record<string, () => Promise<unknown>>> = {
      "to list tools": async () => {
        await connectToUrl(page, hostile.url, { revision: ERAS[1] });
        await shownConnection(page, "ready");
        await goTo(page, "Use");
        await page.getByText(/^10,?\d{3} tools$/).waitFor();
      },
      "to search them": async () => {
        await search.pressSequentially("many_9876");
        await page.getByText(/^1 of 10,?\d{3} tools$/).waitFor();
      },
      "to go to the last": async () => {
        await search.fill("");
        await page.getByRole("listbox", { name: "List of tools" }).press("End");
        await page.getByRole("heading", { level: 2, name: "one of many" }).waitFor();
      },
      "to take messages in": async () => {
        await runTool(page, "flood");
        await goTo(page, "Timeline");
        await filter.pressSequentially("message");
        await filter.fill("");
        await goTo(page, "Use");
        await resultOf(page).waitFor();
      },
      "to filter them": async () => {
        await goTo(page, "Timeline");
        await timelineOf(page).press("Home");
        await timelineOf(page).press("End");
        await filter.pressSequentially("tools/call");
        await page.getByText(/^\d of 20,?000$/).waitFor();
      },
      "to show a long text": async () => {
        await runTool(page, "huge");
        await resultOf(page).waitFor();
      },
    };
    for (const [name, step] of Object.entries(steps)) {
      await step();
      measured[name] = await longest();
    }
    console.log(
      `longest tasks: ${Object.entries(measured)
        .map(([name, ms]) => `${Math.round(ms)} ms ${name}`)
        .join(", ")}`,
    );
    for (const [name, ms] of Object.entries(measured)) expect(ms, name).toBeLessThan(BOUND_MS);
  });
});
