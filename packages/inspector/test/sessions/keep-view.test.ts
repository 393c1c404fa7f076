import { readFileSync } from "node:fs";
import { Server } from "@parley/mcp";
import { parseRecording } from "@parley/mcp/recording";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { serverTarget } from "../engine/opened-engine.js";
import { barriers } from "../kit/barriers.js";
import { hasBrowser } from "../kit/inspected-page.js";
import { actInPage, goTo, openPage, timelineOf, whenReady } from "../page/page-session.js";

const READ_ONLY = { annotations: { readOnlyHint: true } } as const;

function clockServer() {
  const clock = { time: "noon", writes: 0 };
  const server = new Server({ name: "clock", version: "1" })
    .tool("read", { annotations: { readOnlyHint: true } }, () => clock.time)
    .tool("write", { annotations: { readOnlyHint: false } }, () => {
      clock.writes += 1;
      return "written";
    });
  return { clock, server };
}

async function callTool(page: Page, name: string): Promise<void> {
  const request = { kind: "tool", name, arguments: {} } as const;
  const { call } = await actInPage(page, "call", { connection: "c1", request });
  await expect.poll(() => actInPage(page, "outcome", { call }).catch(() => undefined)).toBeDefined();
}

async function savedBy(page: Page, button: string): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: button }).click(),
  ]);
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
}

describe.skipIf(!hasBrowser)("the view of sessions", () => {
  it("records, exports, imports and replays, and shows what is answered differently", async () => {
    const { clock, server } = clockServer();
    const { page, problems } = await openPage({ targets: [serverTarget(server)] });
    await whenReady(page);
    await goTo(page, "Session");
    await page.getByRole("button", { name: "Start recording" }).click();
    await page.getByRole("button", { name: "Stop recording" }).waitFor();
    await callTool(page, "read");
    await callTool(page, "write");
    await page.getByText(/^[4-9] messages, /).waitFor();
    await page.getByRole("button", { name: "Stop recording" }).click();
    await page.getByRole("button", { name: "Start recording" }).waitFor();
    const file = await savedBy(page, "Export clock");
    expect(file.name).toMatch(/^clock-.*\.jsonl$/);
    expect(parseRecording(file.text, file.name).header.server).toEqual({ name: "clock", version: "1" });

    await page
      .getByLabel(/Choose a recording/)
      .setInputFiles({ name: "kept.jsonl", mimeType: "application/x-ndjson", buffer: Buffer.from(file.text) });
    await timelineOf(page).waitFor();
    await page.getByRole("button", { name: /imported session · / }).waitFor();

    await goTo(page, "Session");
    clock.time = "midnight";
    const replay = page.getByRole("button", { name: "Replay" });
    await replay.click();
    await page.getByText(/1 different, 1 skipped/).waitFor();
    const table = page.getByRole("region", { name: "Differences in tools/call read" });
    expect(await table.textContent()).toMatch(/content\.0\.text.*"noon".*"midnight"/);
    expect(clock.writes).toBe(1);

    await page.getByLabel("Include tools that may change data").check();
    await replay.click();
    const dialog = page.getByRole("dialog", { name: "Run tools that may change data?" });
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(clock.writes).toBe(1);
    await replay.click();
    await dialog.getByRole("button", { name: "Replay all calls" }).click();
    await page.getByText(/1 different, 0 skipped/).waitFor();
    expect(clock.writes).toBe(2);
    expect(await barriers(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  it("shows which call of a replay is under way, and what was done when that is cancelled", async () => {
    const seen = { hangs: false, waiting: 0, aborted: 0 };
    const server = new Server({ name: "slow", version: "1" }).tool("wait", READ_ONLY, async (_args, { signal }) => {
      if (!seen.hangs) return "at once";
      seen.waiting += 1;
      signal.addEventListener("abort", () => {
        seen.aborted += 1;
      });
      return new Promise<never>(() => undefined);
    });
    const { page, problems } = await openPage({ targets: [serverTarget(server)] });
    await whenReady(page);
    // The page reads the list by itself, which is replayed too: first, if it was first.
    await page.getByRole("tab", { name: "Tools1" }).waitFor();
    for (let calls = 0; calls < 2; calls++) await callTool(page, "wait");
    seen.hangs = true;
    await goTo(page, "Session");
    await page.getByRole("button", { name: "Replay", exact: true }).click();
    await page.getByText(/^Call \d+ of \d+ to slow: tools\/call wait$/).waitFor();
    await page.getByRole("progressbar", { name: "Progress of the replay" }).waitFor();
    await expect.poll(() => seen.waiting).toBe(1);
    expect(await barriers(page)).toEqual([]);
    // It goes on while another view is shown.
    await goTo(page, "Timeline");
    await goTo(page, "Session");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText(/^\d+ same, 0 different, 0 skipped; cancelled, 1 not sent$/).waitFor();
    await page.locator(".keep-call").filter({ hasText: "cancelledtools/call wait" }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });
    await expect.poll(() => seen.aborted).toBe(1);
    expect(problems).toEqual([]);
  });

  it("takes a file that is dropped, and says which line of it is wrong", async () => {
    const { page } = await openPage({ targets: [serverTarget(clockServer().server)] });
    await whenReady(page);
    await goTo(page, "Session");
    const target = { kind: "url", name: "x" };
    const header = JSON.stringify({ format: "parley-recording", version: 1, began: "", target, redacted: true });
    const transfer = await page.evaluateHandle((text) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], "broken.jsonl"));
      return transfer;
    }, `${header}\n<b>no message</b>\n{}\n`);
    const place = page.locator("label", { hasText: "drop it here" });
    await place.dispatchEvent("drop", { dataTransfer: transfer });
    await page.getByText("broken.jsonl: line 2 is not JSON").waitFor();
    await page.getByText("Correct or remove the line").waitFor();
  });
});
