import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasBrowser, launchBrowser } from "../../../inspector/test/kit/browser.js";
import { InspectingParley } from "../inspect/inspecting-parley.js";
import { ModuleFolder } from "../run/module-folder.js";

const BOUND_MS = 1_000;

const MODULE = `import { Server } from "@parley/mcp";
export default new Server({ name: "x", version: "1.0.0" }).tool("hello", () => "hello");`;

describe.runIf(hasBrowser)("parley inspect", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it("is painted within 1 s of the command", async () => {
    using folder = new ModuleFolder({ "server.ts": MODULE }).link();
    const times: number[] = [];
    // The first is not counted: it bundles the program and the page, and warms the machine.
    for (let run = 0; run < 5; run++) {
      const page = await (await browser.newContext()).newPage();
      await using parley = await InspectingParley.start(["server.ts"], { cwd: folder.path });
      const url = (await parley.url()).href;
      const printed = performance.now() - parley.began;
      await page.goto(url);
      const painted = await page.waitForFunction(
        'performance.getEntriesByName("first-contentful-paint")[0]?.startTime',
      );
      times.push(printed + Number(await painted.jsonValue()));
      await parley.connected(1);
      await page.context().close();
    }
    console.log(`painted after ${times.map((ms) => Math.round(ms)).join(", ")} ms, the first not counted`);
    expect(Math.max(...times.slice(1))).toBeLessThan(BOUND_MS);
  });
});
