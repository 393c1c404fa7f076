import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { hasBrowser } from "../kit/inspected-page.js";
import { actInPage, goTo, openPage, startWrongServer, timelineOf, urlTarget, whenReady } from "./page-session.js";

function savedFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-shared-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "session.html");
  writeFileSync(file, text);
  return pathToFileURL(file).href;
}

describe.skipIf(!hasBrowser)("a session that was saved as a file", () => {
  test("shows its servers and messages without an inspector, and asks nobody", async () => {
    const { page, inspector, requests, problems } = await openPage({
      targets: [urlTarget(await startWrongServer())],
      revision: "2025-11-25",
    });
    await whenReady(page);
    await goTo(page, "Use");
    await goTo(page, "Timeline");
    await timelineOf(page)
      .getByRole("option", { name: /initialize/ })
      .first()
      .waitFor();
    await timelineOf(page)
      .getByRole("option", { name: /result.*tools\/list/ })
      .waitFor();
    const { text } = await actInPage(page, "share", {});
    await inspector.close();
    const address = savedFile(text);
    const other = await page.context().newPage();
    // The page of the inspector goes on asking for it.
    await page.close();
    requests.length = 0;
    problems.length = 0;
    await other.goto(address);
    await other.getByText("read-only").waitFor();
    const views = await other.getByRole("tablist", { name: "Views" }).getByRole("tab").allTextContents();
    expect(views.map((view) => view.replace(/\d+$/, ""))).toEqual(["Server", "Timeline"]);
    await timelineOf(other)
      .getByRole("option", { name: /sent.*request.*initialize/ })
      .click();
    await other.getByText("Matches the published schema").waitFor();
    await timelineOf(other)
      .getByRole("option", { name: /received.*result.*2 problems.*tools\/list/ })
      .click();
    await other.getByText("Violates the published schema ListToolsResult of 2025-11-25 in 2 places").waitFor();
    await other.getByText("⚠ is the number 12; Tool requires a string").waitFor();
    await other.getByRole("tab", { name: "Copy as" }).click();
    await expect
      .poll(() => other.getByRole("button", { name: /^Copy as/ }).allTextContents())
      .toEqual(["Copy as JSON"]);
    expect(await other.getByRole("button", { name: /Clear|Connect to/ }).count()).toBe(0);
    await goTo(other, "Server");
    await other.getByText("wrong", { exact: true }).first().waitFor();
    expect(await other.getByRole("button", { name: /Reconnect|Disconnect/ }).count()).toBe(0);
    expect(requests).toEqual([address]);
    expect(problems).toEqual([]);
  });
});
