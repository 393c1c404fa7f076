import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ERAS } from "../../engine/opened-engine.js";
import { barriers } from "../../kit/barriers.js";
import { hasBrowser, type InspectedPage, openInspectedPage } from "../../kit/inspected-page.js";
import type { PostedJsonServer } from "../../kit/posted-json.js";
import { goTo, timelineOf, urlTarget } from "../../page/page-session.js";
import { resultOf, runTool, strayRequests } from "../call-steps.js";
import { startFaultyServer } from "./faulty-server.js";
import { ALL_ROWS, chooseEntry, choosePart, shownMessage, shownRows } from "./timeline-steps.js";

/** What a tool of the server gets wrong: which entry, at which place, and in which line of its text. */
const FAULTS = [
  {
    tool: "no-content",
    entry: /received.*result.*tools\/call no-content/,
    held: "CallToolResult",
    path: "/result/content",
    line: '  "result": {',
    says: "is missing; CallToolResult requires an array",
    definition: "CallToolResult",
  },
  {
    tool: "wrong-block",
    entry: /received.*result.*tools\/call wrong-block/,
    held: "CallToolResult",
    path: "/result/content/1/text",
    line: '        "text": 12',
    says: "is the number 12; TextContent requires a string",
    definition: "TextContent",
  },
  {
    tool: "wrong-flag",
    entry: /received.*result.*tools\/call wrong-flag/,
    held: "CallToolResult",
    path: "/result/isError",
    line: '    "isError": "no"',
    says: 'is the string "no"; CallToolResult requires a boolean',
    definition: "CallToolResult",
  },
  {
    tool: "wrong-log",
    entry: /received.*notification.*notifications\/message/,
    held: "LoggingMessageNotification",
    path: "/params/level",
    line: '    "level": "loud",',
    says: 'is the string "loud"',
    definition: "LoggingLevel",
  },
] as const;

describe.skipIf(!hasBrowser).each(ERAS)("messages beside the published schema, in %s", (revision) => {
  let opened: InspectedPage;
  let page: Page;
  let server: PostedJsonServer;
  beforeAll(async () => {
    server = await startFaultyServer();
    opened = await openInspectedPage({ targets: [urlTarget(server.url)], revision }, { viewport: ALL_ROWS });
    page = opened.page;
    for (const tool of ["right", "wrong-error", ...FAULTS.map((fault) => fault.tool)]) {
      await runTool(page, tool);
      await resultOf(page).waitFor();
    }
    await goTo(page, "Timeline");
  });
  afterAll(async () => {
    await opened?.close();
    await server?.close();
  });

  const verdict = () => page.getByRole("region", { name: "Entry" }).getByText(/the published schema/);
  const places = () => page.getByRole("list", { name: "Schema violations" }).getByRole("listitem");
  const wrongLines = () => page.locator(".timeline-wrong-line").allTextContents();

  it("are said to match where they do, whoever sent them", async () => {
    for (const [entry, definition] of [
      [/received.*result.*tools\/call right/, "CallToolResult"],
      [/sent.*request.*tools\/call right/, "CallToolRequest"],
    ] as const) {
      await chooseEntry(page, entry);
      await page.getByText(`Matches the published schema ${definition} of ${revision}`).waitFor();
      expect(await wrongLines()).toEqual([]);
    }
    await chooseEntry(page, /event.*connected/);
    await verdict().waitFor({ state: "detached" });
  });

  it.each(FAULTS)("that break it are shown at the line where they do: $tool", async (fault) => {
    await chooseEntry(page, fault.entry);
    await verdict().waitFor();
    expect((await page.locator(".timeline-verdict").textContent()) ?? "").toContain(
      `Violates the published schema ${fault.held} of ${revision} in 1 place`,
    );
    const [place, ...more] = await places().allTextContents();
    expect(more).toEqual([]);
    expect(place?.startsWith(`${fault.path} ${fault.says}`), place).toBe(true);
    expect(place).toContain(fault.definition);
    const [line = "", ...others] = await wrongLines();
    expect(others).toEqual([]);
    expect(line.startsWith(`${fault.line}⚠ ${fault.says}`), line).toBe(true);
    expect(line).toContain(fault.definition);
    expect(await shownMessage(page)).toContain('"jsonrpc": "2.0"');
  });

  it("that break it once among many are found by the filter, and counted in their rows", async () => {
    await page.getByLabel("Only problems").check();
    const labels = async () => (await shownRows(page)).map(({ label }) => label).sort();
    const wrong = [
      "notifications/message",
      "tools/list",
      ...FAULTS.slice(0, 3).map(({ tool }) => `tools/call ${tool}`),
    ];
    await expect.poll(labels).toEqual(wrong.map((label) => `⚠ 1 problem ${label}`).sort());
    await chooseEntry(page, /received.*result.*tools\/list/);
    await expect
      .poll(() => places().allTextContents())
      .toEqual(["/result/tools/8/description is the number 7; Tool requires a string"]);
    expect(await wrongLines()).toEqual(['        "description": 7⚠ is the number 7; Tool requires a string']);
    expect(await barriers(page)).toEqual([]);
    await page.getByLabel("Only problems").uncheck();
  });

  it("that are none are told as an event with the reason", async () => {
    await page.getByLabel("Only failures").check();
    await timelineOf(page)
      .getByRole("option", { name: /event.*failed.*violated the protocol.*`error` must have an integer `code`/ })
      .click();
    const entry = page.getByRole("region", { name: "Entry" });
    await entry
      .getByText(/answered tools\/call with an invalid message/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Show all" }).click();
    await chooseEntry(page, /sent.*request.*tools\/call wrong-error/);
    await choosePart(page, "Headers");
    await expect
      .poll(() => entry.getByRole("region", { name: "Response body" }).textContent())
      .toContain('"code":"E12"');
    await choosePart(page, "Message");
  });

  it("that are megabytes of text are held to it as a whole, and those of very many values in part, which is said", async () => {
    for (const tool of ["large", "many"]) {
      await runTool(page, tool);
      await resultOf(page).getByText("fine").first().waitFor();
    }
    await goTo(page, "Timeline");
    await chooseEntry(page, /received.*result.*tools\/call large/);
    await page.getByText(`Violates the published schema CallToolResult of ${revision} in 1 place`).waitFor();
    await expect
      .poll(() => places().allTextContents())
      .toEqual(["/result/content/1/text is the number 12; TextContent requires a string"]);
    await chooseEntry(page, /received.*result.*tools\/call many/);
    const words =
      "Only its beginning was checked against the published schema: it is too large to be checked completely.";
    await page.getByText(words).waitFor();
  });

  it("leave no error in the page, and no request to anywhere else", () => {
    expect(opened.problems).toEqual([]);
    expect(strayRequests(opened)).toEqual([]);
  });
});
