import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shownConnection } from "../browser/connect-steps.js";
import { ERAS } from "../engine/opened-engine.js";
import { bundleInspector } from "../kit/bundled-inspector.js";
import { hasBrowser, type OpenedPage, openPageAt } from "../kit/inspected-page.js";
import { goTo } from "../page/page-session.js";

describe.skipIf(!hasBrowser)("the page of a server that inspects itself", () => {
  let program: ChildProcessWithoutNullStreams;
  let opened: OpenedPage;
  let page: Page;

  beforeAll(async () => {
    const path = await bundleInspector(fileURLToPath(new URL("./inspected-program.ts", import.meta.url)));
    program = spawn(process.execPath, [path]);
    const [line] = await once(createInterface({ input: program.stderr }), "line");
    const url = String(line).replace(/^inspector: /, "");
    opened = await openPageAt(url);
    page = opened.page;
  });
  afterAll(async () => {
    await opened?.close();
    program?.kill("SIGKILL");
  });

  const tools = () => page.getByRole("listbox", { name: "List of tools" }).getByRole("option");
  const change = (tool: string) => program.stdin.write(`${tool}\n`);

  describe.each(ERAS)("in %s", (revision) => {
    it("runs its tools in its own process", async () => {
      await goTo(page, "Server");
      await shownConnection(page, "ready");
      await page.getByLabel("Protocol revision").selectOption(revision);
      await shownConnection(page, `ready · ${revision}`);
      await page.getByText("in memory, in this process").waitFor();
      await goTo(page, "Use");
      await tools().filter({ hasText: "hello" }).click();
      await page.getByRole("button", { name: "Run" }).click();
      const calls = page
        .getByRole("region", { name: "Call history" })
        .getByRole("listitem")
        .filter({ hasText: "done" });
      await expect.poll(() => calls.count()).toBe(ERAS.indexOf(revision) + 1);
      await page.getByRole("main").getByText(`hello from ${program.pid}`).first().waitFor();
    });

    it("shows tools that come and go while it runs", async () => {
      await goTo(page, "Use");
      change("later");
      await tools().filter({ hasText: "later" }).waitFor();
      change("later");
      await tools().filter({ hasText: "later" }).waitFor({ state: "detached" });
      expect(await tools().count()).toBe(1);
    });
  });

  it("asks nobody but the server, has no errors, and says when the program has ended", async () => {
    const { origin } = new URL(page.url());
    expect(opened.requests.filter((url) => !url.startsWith(`${origin}/`))).toEqual([]);
    expect(opened.problems).toEqual([]);
    const ended = once(program, "close");
    program.stdin.end();
    expect(await ended).toEqual([0, null]);
    await page.getByRole("alert").getByText("The inspector has stopped").waitFor();
  });
});
