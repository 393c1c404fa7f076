import { connect } from "@parley/mcp";
import { type ListeningHandle, serveHttp } from "@parley/mcp/node";
import { memoryStorage } from "@parley/mcp/storage";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { server as everything } from "../../../../../examples/everything/server.js";
import { node } from "../../../../../examples/tasks/server.js";
import { ERAS } from "../../engine/opened-engine.js";
import { hasBrowser, type InspectedPage, openInspectedPage } from "../../kit/inspected-page.js";
import { chooseTool, questionOf, resultOf, runTool, strayRequests } from "../call-steps.js";
import { chooseOffer, openOffers, resultJson, targetsInBothEras, useServer } from "./use-steps.js";
import { STEPS, workingServer } from "./working-server.js";

describe.skipIf(!hasBrowser)("calls", () => {
  const working = workingServer();
  const { stopped } = working;
  let opened: InspectedPage;
  let page: Page;
  let handle: ListeningHandle;

  beforeAll(async () => {
    handle = await serveHttp(working.server, { port: 0 });
    const reports = node(memoryStorage());
    const servers = [handle.url, everything, reports];
    opened = await openInspectedPage({ targets: servers.flatMap(targetsInBothEras) });
    page = opened.page;
  });
  afterAll(async () => {
    await opened?.close();
    await handle?.close();
  });

  const result = () => resultOf(page);
  const progress = (name: string) => page.getByRole("progressbar", { name: `Progress of ${name}` });
  const cancel = () => page.getByRole("button", { name: "Cancel", exact: true });
  const run = (panel: Locator) => panel.getByRole("button", { name: /^Run/ });
  const history = () => page.getByRole("region", { name: "Call history" });

  describe.each(ERAS)("in %s", (revision) => {
    it("show how far they are, step by step", async () => {
      await useServer(page, "working", revision);
      await runTool(page, "work");
      for (let step = 1; step <= STEPS; step++) {
        await page.getByText(`${step} of ${STEPS} step ${step}`).waitFor();
        expect(await progress("work").getAttribute("value")).toBe(String(step));
        expect(await progress("work").getAttribute("max")).toBe(String(STEPS));
        await working.goOn("work");
      }
      await result().getByText("all steps done").waitFor();
      expect(await progress("work").count()).toBe(0);
    });

    it("come into sight when they start, and leave whoever scrolls away where they are", async () => {
      await useServer(page, "working", revision);
      const panel = await chooseTool(page, "work");
      const heading = panel.getByRole("heading", { name: "work", exact: true, level: 2 });
      const isSeen = (locator: Locator) =>
        locator.evaluate((element) => {
          const { top, bottom } = element.getBoundingClientRect();
          return top >= 0 && bottom <= innerHeight;
        });
      await run(panel).focus();
      await heading.scrollIntoViewIfNeeded();
      await page.keyboard.press("Control+Enter");
      await expect.poll(() => isSeen(progress("work"))).toBe(true);
      await heading.scrollIntoViewIfNeeded();
      await working.goOn("work");
      await panel.getByText(`2 of ${STEPS} step 2`).waitFor({ state: "attached" });
      expect(await isSeen(heading)).toBe(true);
      await cancel().click();
      await expect.poll(() => progress("work").count()).toBe(0);
    });

    it("are cancelled at the server, one at a time", async () => {
      await useServer(page, "working", revision);
      stopped.length = 0;
      const panel = await chooseTool(page, "wait");
      await run(panel).click();
      await expect.poll(() => progress("wait").count()).toBe(1);
      expect(await progress("wait").getAttribute("value")).toBeNull();
      await working.waits("wait", 1);
      await run(panel).click();
      await expect.poll(() => progress("wait").count()).toBe(2);
      await working.waits("wait", 2);
      // The newest is the first.
      await cancel().last().click();
      await expect.poll(() => stopped).toEqual(["wait"]);
      await expect.poll(() => progress("wait").count()).toBe(1);
      await history()
        .getByRole("button", { name: /^cancelled/ })
        .click();
      await result().getByText("Cancelled", { exact: true }).waitFor();
      await working.goOn("wait");
      await history().getByRole("button", { name: /^done/ }).click();
      await result().getByText("waited").waitFor();
      expect(stopped).toEqual(["wait"]);
    });

    it("run as tasks, with their status, until they are done or cancelled", async () => {
      await useServer(page, "working", revision);
      stopped.length = 0;
      const panel = await chooseTool(page, "slow");
      await panel.getByLabel("Run as a task").check();
      await run(panel).click();
      await panel.getByText(/^Task \S+: working/).waitFor();
      await working.goOn("slow");
      await result().getByText("slow but done").waitFor();
      await run(panel).click();
      await panel.getByText(/^Task \S+: working/).waitFor();
      await working.waits("slow", 1);
      await cancel().click();
      await result().getByText("Cancelled", { exact: true }).waitFor();
      await expect.poll(() => stopped).toEqual(["slow"]);
    });

    it("run as a task that asks on its way", async () => {
      await useServer(page, "reports", revision);
      const panel = await chooseTool(page, "report");
      await panel.getByLabel("year").fill("2026");
      await panel.getByLabel("Run as a task").check();
      await run(panel).click();
      await questionOf(page).getByLabel("format").selectOption("pdf");
      await questionOf(page).getByRole("button", { name: "Accept" }).click();
      await result().getByText("1200 rows of 2026 as pdf").waitFor();
    });

    it("are listed, are shown again, and give their arguments back", async () => {
      await useServer(page, "Everything", revision);
      const panel = await chooseTool(page, "primes");
      for (const below of ["10", "20"]) {
        await panel.getByLabel("below", { exact: true }).fill(below);
        await run(panel).click();
        await expect.poll(() => history().getByText("done", { exact: true }).count()).toBe(below === "10" ? 1 : 2);
        await result().getByText("Done").waitFor();
      }
      const primes = async () => JSON.stringify((await resultJson(page))["structuredContent"]);
      await expect.poll(primes).toContain("[2,3,5,7,11,13,17,19]");
      await history().getByRole("button", { name: /^done/ }).last().click();
      await expect.poll(primes).toContain("[2,3,5,7]");
      await history().getByRole("button", { name: "Reuse these arguments" }).click();
      expect(await panel.getByLabel("below", { exact: true }).inputValue()).toBe("10");
      // What is shown stays, also where another connection is looked at in between.
      for (const shown of [...ERAS.filter((era) => era !== revision), revision]) {
        await useServer(page, "Everything", shown);
      }
      expect(await panel.getByLabel("below", { exact: true }).inputValue()).toBe("10");
      await result().waitFor();
      await page.reload();
      await useServer(page, "Everything", revision);
      await chooseTool(page, "primes");
      await expect.poll(() => history().getByRole("listitem").count()).toBe(2);
      await expect.poll(primes).toContain("[2,3,5,7,11,13,17,19]");
    });

    it("are any request, as it is", async () => {
      await useServer(page, "Everything", revision);
      const panel = await openOffers(page, "Request");
      await panel.getByLabel("Method").fill("tools/call");
      await panel.getByLabel("Params (JSON)").fill('{ "name": "sum", "arguments": { "numbers": [4, 5] }');
      await panel.getByText(/^Line 1, column \d+: /).waitFor();
      await panel.getByLabel("Params (JSON)").fill('{ "name": "sum", "arguments": { "numbers": [4, 5] } }');
      await panel.getByRole("button", { name: "Send" }).click();
      await result().getByText("Done").waitFor();
      expect(await resultJson(page)).toMatchObject({ structuredContent: { sum: 9 } });
      await history().getByText("tools/call").waitFor();
    });

    it("are made anew when a resource changes that is watched", async () => {
      const other = await connect(everything, { revisions: [revision] });
      onTestFinished(() => other.close());
      const write = (text: string) => other.callTool("write", { id: "today", text });
      await write("first");
      await useServer(page, "Everything", revision);
      const panel = await openOffers(page, "Resources");
      await chooseOffer(page, "resources", "note://today", "today");
      await panel.getByRole("button", { name: "Read", exact: true }).click();
      await result().getByText("first").waitFor();
      await panel.getByRole("button", { name: "Subscribe", exact: true }).click();
      await panel.getByText("0 updates").waitFor();
      await write("second");
      await panel.getByText("1 update", { exact: true }).waitFor();
      await result().getByText("second").waitFor();
      for (let count = 1; count <= 20; count++) await write(`number ${count}`);
      await result().getByText("number 20").waitFor();
      // Updates that arrive before the last one was read are one.
      const updates = async () => Number.parseInt((await panel.getByText(/^\d+ updates$/).textContent()) ?? "", 10);
      await expect.poll(updates).toBeGreaterThan(1);
      await panel.getByLabel("Read again on every update").uncheck();
      const before = await updates();
      await write("third");
      await expect.poll(updates).toBeGreaterThan(before);
      await result().getByText("number 20").waitFor();
      await panel.getByRole("button", { name: "Read", exact: true }).click();
      await result().getByText("third").waitFor();
      await panel.getByRole("button", { name: "Unsubscribe" }).click();
      await panel.getByRole("button", { name: "Subscribe", exact: true }).waitFor();
    });
  });

  it("say while they are being started that another press does nothing", async () => {
    await useServer(page, "Everything", ERAS[0]);
    const panel = await chooseTool(page, "media");
    await page.evaluate(() => {
      const { fetch } = globalThis;
      globalThis.fetch = async (address, options) => {
        const response = await fetch(address, options);
        if (String(address).endsWith("/call")) await new Promise((resolve) => addEventListener("late", resolve));
        return response;
      };
    });
    await run(panel).click();
    await panel.getByRole("button", { name: /^Run/, disabled: true }).waitFor();
    // It has the focus all the same.
    await page.keyboard.press("Control+Enter");
    await result().getByText("Done").waitFor();
    await page.evaluate(() => dispatchEvent(new Event("late")));
    await panel.getByRole("button", { name: /^Run/, disabled: false }).waitFor();
    expect(await history().getByRole("listitem").count()).toBe(1);
  });

  it("ask nobody but the inspector, and leave no errors", () => {
    expect(strayRequests(opened)).toEqual([]);
    expect(opened.problems).toEqual([]);
  });
});
