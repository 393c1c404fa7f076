import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { shownRevision } from "@parley/mcp/protocol";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { server as everything } from "../../../../../examples/everything/server.js";
import { ERAS, serverTarget } from "../../engine/opened-engine.js";
import { hasBrowser, type InspectedPage, openInspectedPage } from "../../kit/inspected-page.js";
import { actInPage, goTo, timelineOf, urlTarget } from "../../page/page-session.js";
import { chooseConnection, questionOf, resultOf, runTool, strayRequests } from "../call-steps.js";
import { ALL_ROWS, chooseEntry, choosePart, type ShownRow, shownMessage, shownRows } from "./timeline-steps.js";
import { startWireLog, type WireLog } from "./wire-log.js";

const other = new Server({ name: "other", version: "1" });
const SECRET = "Bearer a-secret-of-the-terminal";

describe.skipIf(!hasBrowser).each(ERAS)("the timeline of everything over HTTP, in %s", (revision) => {
  const isStateless = shownRevision(revision).era === "stateless";
  let opened: InspectedPage;
  let page: Page;
  let wire: WireLog;
  let served: Awaited<ReturnType<typeof serveHttp>>;
  beforeAll(async () => {
    served = await serveHttp(everything, { port: 0 });
    wire = await startWireLog(served.url);
    const target = { ...urlTarget(wire.url, { Authorization: SECRET }), secrets: [SECRET], authorized: true };
    opened = await openInspectedPage({ targets: [target, serverTarget(other)], revision }, { viewport: ALL_ROWS });
    page = opened.page;
    await callEverything();
    // The page reads the lists by itself, and is quiet when it has them.
    for (const list of ["Tools", "Resources", "Templates", "Prompts"]) {
      await page.getByRole("tab", { name: new RegExp(`^${list}\\d+$`) }).waitFor();
    }
    await goTo(page, "Timeline");
    const answers = timelineOf(page).getByRole("option", { name: /received.*result.*tools\/call survey/ });
    await answers.nth(isStateless ? 1 : 0).waitFor();
  });
  afterAll(async () => {
    await opened?.close();
    await wire?.close();
    await served?.close();
  });

  const accept = () => questionOf(page).getByRole("button", { name: "Accept" }).click();
  const done = (text: string | RegExp) => resultOf(page).getByText(text).first().waitFor();

  /** Calls with progress, questions, an error and a result for each kind of entry. */
  async function callEverything(): Promise<void> {
    await chooseConnection(page, "Everything");
    await runTool(page, "work");
    await done("did 5 steps");
    await runTool(page, "buy");
    await questionOf(page).getByRole("textbox", { name: "name" }).fill("Ada");
    await accept();
    await questionOf(page).getByText("Really for Ada?").waitFor();
    await questionOf(page).getByRole("checkbox", { name: "sure" }).check();
    await accept();
    await done(/^receipt \d+ for Ada$/);
    await runTool(page, "media");
    await done("Some words");
    await runTool(page, "survey");
    await questionOf(page).getByRole("button", { name: "Decline" }).click();
    await done("no answer (decline)");
  }

  it("has every message of both directions, as it passed on the wire", async () => {
    await page.getByLabel("Connection", { exact: true }).selectOption({ index: 1 });
    const normal = (text: string) => JSON.stringify(JSON.parse(text));
    await timelineOf(page).focus();
    await page.keyboard.press("Home");
    const messages = async () => (await shownRows(page)).filter(({ kind }) => kind !== "http" && kind !== "event");
    await expect.poll(async () => (await messages()).length).toBe(wire.messages.length);
    const seen: string[] = [];
    for (const { direction, kind } of await shownRows(page)) {
      if (kind !== "http" && kind !== "event") seen.push(`${direction} ${normal(await shownMessage(page))}`);
      await page.keyboard.press("ArrowDown");
    }
    expect(seen.length).toBeGreaterThan(30);
    expect(await page.getByText("no longer kept").count()).toBe(0);
    expect(seen.sort()).toEqual(wire.messages.map(({ direction, text }) => `${direction} ${normal(text)}`).sort());
    await page.getByRole("button", { name: "Show all" }).click();
  });

  it("pairs a request and its answer, and goes from one to the other", async () => {
    const entry = await chooseEntry(page, /sent.*request.*tools\/call work/);
    await entry.getByText(/request, sent · \d+ B · answered in [\d.]+ m?s/).waitFor();
    const request = JSON.parse(await shownMessage(page));
    expect(await page.locator(".timeline-paired").textContent()).toMatch(/received.*result.*tools\/call work/);
    await entry.getByRole("button", { name: "Go to response" }).click();
    await entry.getByText(/result, received · \d+ B · answered in/).waitFor();
    const answer = JSON.parse(await shownMessage(page));
    expect([answer.id, answer.result.content[0].text]).toEqual([request.id, "did 5 steps"]);
    await entry.getByRole("button", { name: "Go to request" }).click();
    await entry.getByText("request, sent").waitFor();
  });

  it("says how long each answer took, and how large each message is", async () => {
    const rows = await shownRows(page);
    const answers = rows.filter(({ kind }) => kind === "result" || kind === "error");
    expect(answers.length).toBeGreaterThan(10);
    for (const { took, text } of rows) {
      expect(took, text).toMatch(answers.some((row) => row.text === text) ? /^[\d.]+ m?s$/ : /^$/);
    }
    const of = (words: string) => rows.findLast(({ text }) => text.includes(words));
    const [request, answer] = [of("request tools/call survey"), of("result tools/call survey")];
    // The user thought about it, so that it took a time that the clocks of both rows tell too.
    const between = ((answer?.time ?? 0) - (request?.time ?? 0)) * 1_000;
    if (!isStateless) expect(Math.abs(inMs(answer?.took) - between)).toBeLessThan(Math.max(10, between / 2));
    await chooseEntry(page, /received.*result.*tools\/call survey/);
    const { length } = JSON.stringify(JSON.parse(await shownMessage(page)));
    expect(answer?.size).toBe(`${length} B`);
  });

  it("has the headers of both ways, without secrets", async () => {
    const entry = await chooseEntry(page, /sent.*request.*tools\/call media/);
    await choosePart(page, "Headers");
    const [sent, received] = ["Request headers", "Response headers"].map((name) => entry.getByRole("table", { name }));
    const row = (words: string | RegExp) => sent?.getByRole("row", { name: words });
    await row(`mcp-protocol-version ${revision}`)?.waitFor();
    await row("content-type application/json")?.waitFor();
    await row(/^authorization /)?.waitFor();
    expect(await entry.textContent()).not.toContain(SECRET.slice(7));
    expect(await entry.textContent()).toContain(`POST ${wire.url}`);
    await entry.getByText("Status 200").waitFor();
    await received?.getByRole("row", { name: /^content-type (?:application\/json|text\/event-stream)/ }).waitFor();
    if (isStateless) {
      await row("mcp-method tools/call")?.waitFor();
      await row("mcp-name media")?.waitFor();
    } else await row(/^mcp-session-id /)?.waitFor();
    await entry.getByRole("button", { name: "Go to response" }).click();
    await entry.getByText("Status 200").waitFor();
    await choosePart(page, "Message");
  });

  it("draws a call across its rounds of questions", async () => {
    const entry = await chooseEntry(page, /sent.*request.*tools\/call buy/);
    await choosePart(page, "Waterfall");
    const table = entry.getByRole("table", { name: "This call" });
    const bars = table.getByRole("row").filter({ has: page.getByRole("rowheader") });
    const read = () => bars.evaluateAll((rows) => rows.map((row) => row.textContent ?? ""));
    const [round, question] = ["tools/call buy request", "elicitation/create from the server"] as const;
    const between = (number: number) => `questions, round ${number} from the server`;
    const expected = isStateless ? [round, between(1), round, between(2), round] : [round, question, question];
    await expect.poll(async () => (await read()).map((text) => text.replace(/\+.*$/, ""))).toEqual(expected);
    for (const text of await read()) expect(text).toMatch(/\+[\d.]+ (?:µs|m?s)[\d.]+ m?s$/);
    expect(await bars.locator("svg rect").count()).toBe(expected.length);
    await bars.last().getByRole("button").click();
    await entry.getByRole("heading", { name: expected.at(-1)?.replace(/ (?:request|from.*)$/, "") ?? "" }).waitFor();
    await choosePart(page, "Message");
    await entry.getByRole("button", { name: "Only this call" }).click();
    await page.getByText(`6 of`).waitFor();
    const kinds = async () => (await shownRows(page)).map(({ kind }) => kind).sort();
    await expect.poll(kinds).toEqual([...Array(3).fill("request"), ...Array(3).fill("result")]);
    await page.getByRole("button", { name: "Show all" }).click();
  });

  it("is narrowed by each filter, and by several", async () => {
    await page.getByRole("button", { name: "Close entry" }).click();
    const all = await shownRows(page);
    const texts = async () => (await shownRows(page)).map(({ text }) => text);
    const passing = (pass: (row: ShownRow) => boolean) => all.filter(pass).map(({ text }) => text);
    const choice = (name: string) => page.getByLabel(name, { exact: true });
    for (const direction of ["sent", "received"]) {
      await choice("Direction").selectOption(direction);
      await expect.poll(texts).toEqual(passing((row) => row.direction === direction));
    }
    await choice("Direction").selectOption("");
    for (const kind of ["request", "notification", "result", "http", "event"]) {
      await choice("Kind").selectOption(kind);
      const expected = passing((row) => row.kind === kind);
      if (expected.length > 0) await expect.poll(texts, { message: kind }).toEqual(expected);
      else await page.getByText("No entries match the filter.").waitFor();
    }
    await choice("Kind").selectOption("");
    await choice("Method").selectOption("tools/call");
    await expect.poll(texts).toEqual(passing(({ label }) => label.startsWith("tools/call")));
    await choice("Direction").selectOption("sent");
    await page.getByRole("searchbox", { name: "Filter by text" }).fill("SURVEY");
    await expect
      .poll(texts)
      .toEqual(passing(({ label, direction }) => label === "tools/call survey" && direction === "sent"));
    await page.getByRole("button", { name: "Show all" }).click();
    await choice("Connection").selectOption({ index: 2 });
    await expect.poll(async () => (await texts()).length).toBeLessThan(all.length / 2);
    expect((await texts()).join()).toContain("connecting to a server of this process");
    await page.getByRole("button", { name: "Show all" }).click();
    await page.getByLabel("Only failures").check();
    await page.getByText("No entries match the filter.").waitFor();
    await page.getByLabel("Only problems").check();
    await page.getByRole("button", { name: "Show all" }).click();
    await expect.poll(texts).toEqual(all.map(({ text }) => text));
  });

  it("follows its end while calls go on, and is cleared without losing what comes after", async () => {
    await page.setViewportSize({ width: 1280, height: 500 });
    const list = timelineOf(page);
    const fromEnd = () => list.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
    const follow = page.getByRole("button", { name: "Follow" });
    if ((await follow.getAttribute("aria-pressed")) !== "true") await follow.click();
    await expect.poll(fromEnd).toBeLessThan(2);
    await runTool(page, "work");
    // The tool was called before, so that its result alone may be of then.
    const ended = page.getByRole("region", { name: "Call history" }).getByText("done", { exact: true });
    await expect.poll(() => ended.count()).toBe(2);
    await goTo(page, "Timeline");
    await list.getByRole("option", { name: /received.*result.*tools\/call work/ }).waitFor();
    await expect.poll(fromEnd).toBeLessThan(2);
    await page.getByRole("button", { name: "Clear…" }).click();
    await page.getByRole("button", { name: "Clear timeline" }).click();
    await page.getByText("No messages yet.").waitFor();
    await runTool(page, "media");
    await goTo(page, "Timeline");
    await list.getByRole("option", { name: /received.*result.*tools\/call media/ }).waitFor();
    await expect
      .poll(async () => (await shownRows(page)).map(({ text }) => text))
      .toEqual(["→ sent request tools/call media", "← received result tools/call media"]);
    await page.reload();
    await expect.poll(async () => (await shownRows(page)).length).toBe(2);
  });

  it("keeps what comes before the page hears that it is cleared", async () => {
    const list = timelineOf(page);
    await page.evaluate(() => {
      const { fetch } = globalThis;
      globalThis.fetch = async (address, options) => {
        const response = await fetch(address, options);
        if (String(address).endsWith("/clear")) await new Promise((resolve) => addEventListener("late", resolve));
        return response;
      };
    });
    await page.getByRole("button", { name: "Clear…" }).click();
    const dialog = page.getByRole("dialog", { name: "Clear the timeline?" });
    await dialog.getByRole("button", { name: "Clear timeline" }).click();
    await page.getByText("No messages yet.").waitFor();
    const request = { kind: "tool", name: "media", arguments: {} } as const;
    await actInPage(page, "call", { connection: "c1", request });
    await list.getByRole("option", { name: /received.*result.*tools\/call media/ }).waitFor();
    await page.evaluate(() => dispatchEvent(new Event("late")));
    await dialog.waitFor({ state: "detached" });
    await list.getByRole("option", { name: /received.*result.*tools\/call media/ }).waitFor();
  });

  it("leaves no error in the page, and no request to anywhere else", () => {
    expect(opened.problems).toEqual([]);
    expect(strayRequests(opened)).toEqual([]);
  });
});

/** A time as the page writes it, in milliseconds. */
function inMs(text = ""): number {
  const [value = "", unit] = text.split(" ");
  return Number(value) * (unit === "s" ? 1_000 : 1);
}
