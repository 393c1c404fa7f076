import { statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Server } from "@parley/mcp";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { InspectorState } from "../../src/contract/inspector-state.js";
import { DEFAULT_TIMELINE_LIMITS } from "../../src/timeline/entry-ring.js";
import { ERAS, serverTarget } from "../engine/opened-engine.js";
import { FLOOD } from "../hostile/hostile-server.js";
import { openWatchedPage, type WatchedPage } from "../hostile/watched-page.js";
import { hasBrowser, openInspectedPage } from "../kit/inspected-page.js";
import { actInPage, goTo, timelineOf, urlTarget } from "../page/page-session.js";
import { chooseConnection, questionOf, resultOf, runTool } from "./call-steps.js";
import { connectToUrl, shownConnection } from "./connect-steps.js";

const TOOLS = 10_000;
const MOST_NODES = 3_000;
const MB = 1024 * 1024;
const FULL = { message: expect.stringContaining("there are 50 connections already") };
/** Ends what hangs: so much takes long on a busy machine. */
const LONGEST_MS = 100_000;

const nodesOf = (page: Page) => page.evaluate(() => document.querySelectorAll("*").length);

/** What the inspector tells now, as a second page would be told. */
function stateOf(page: Page): Promise<InspectorState> {
  return page.evaluate(async () => {
    const token = sessionStorage.getItem("parley-inspector-token") ?? "";
    const response = await fetch("/api/events?from=999999999", { headers: { "x-parley-token": token } });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("\n")) text += (await reader?.read())?.value ?? "";
    await reader?.cancel();
    return JSON.parse(text.split("\n", 1)[0] ?? "").state;
  });
}

async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  await session.detach();
  return metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? Number.NaN;
}

/** Bytes that this process, which has the inspector in it, holds. */
function heapOfInspector(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}

describe.skipIf(!hasBrowser)("far too much", () => {
  let watched: WatchedPage;
  let page: Page;

  beforeAll(async () => {
    watched = await openWatchedPage({}, { tools: TOOLS });
    page = watched.page;
    await goTo(page, "Session");
    for (const revision of ERAS) {
      await connectToUrl(page, watched.hostile.url, { revision });
      await shownConnection(page, `ready · ${revision}`);
    }
  });
  afterAll(() => watched?.close());
  afterEach(() => watched.expectUnharmed());

  const offers = () => page.getByRole("listbox", { name: "List of tools" }).getByRole("option");
  const search = () => page.getByRole("searchbox", { name: "Search tools" });

  it.each(ERAS)("10,000 tools are listed and searched in %s", async (revision) => {
    const connections = page.getByRole("navigation", { name: "Connections" });
    await connections.getByRole("button", { name: `ready · ${revision}` }).click();
    await goTo(page, "Use");
    await page.getByText(/^10,?\d{3} tools$/).waitFor();

    await search().pressSequentially("many_98");
    await page.getByText(/^1\d\d of 10,?\d{3} tools$/).waitFor();
    await expect.poll(() => search().inputValue()).toBe("many_98");
    await search().pressSequentially("76");
    await page.getByText(/^1 of 10,?\d{3} tools$/).waitFor();
    await expect.poll(() => offers().first().textContent()).toContain("many_9876");

    await search().fill("");
    await page.getByRole("listbox", { name: "List of tools" }).press("End");
    await offers().filter({ hasText: "many_9999" }).waitFor();
    await page.getByRole("heading", { level: 2, name: "one of many" }).waitFor();
    expect(await nodesOf(page)).toBeLessThan(MOST_NODES);
  });

  it("10,000 tools are shown as models see them", async () => {
    await goTo(page, "Model");
    await page.getByText(/for 10,\d{3} tools in every request/).waitFor({ timeout: LONGEST_MS });
    await page.getByRole("searchbox", { name: "Search tools" }).fill("many_9876");
    await page
      .getByRole("listbox")
      .getByRole("option", { name: /many_9876/ })
      .click();
    await page.getByRole("region", { name: "What the model gets" }).waitFor();
    expect(await nodesOf(page)).toBeLessThan(MOST_NODES);
  });

  it("100,000 messages leave the page usable, and are kept as far as there is room", async () => {
    const before = { page: await heapOf(page), inspector: heapOfInspector() };
    await runTool(page, "flood");
    await goTo(page, "Timeline");
    // While they come, other views and fields answer.
    const filter = page.getByRole("searchbox", { name: "Filter by text" });
    await filter.pressSequentially("message");
    await expect.poll(() => filter.inputValue()).toBe("message");
    await filter.fill("");
    await goTo(page, "Server");
    await page.getByRole("heading", { name: "Capabilities" }).waitFor();
    await goTo(page, "Use");
    await resultOf(page).waitFor({ timeout: LONGEST_MS });
    await goTo(page, "Timeline");
    const isForgottenShown = async () => {
      const { first } = (await stateOf(page)).timeline;
      return page.getByText(`${(first - 1).toLocaleString("en")} older entries were dropped.`).isVisible();
    };
    await expect.poll(isForgottenShown).toBe(true);
    const { first, next } = (await stateOf(page)).timeline;
    expect(next).toBeGreaterThan(FLOOD);
    expect(next - first).toBe(DEFAULT_TIMELINE_LIMITS.entries);
    await timelineOf(page).press("Home");
    await timelineOf(page).press("End");
    await timelineOf(page).getByRole("option", { selected: true }).waitFor();
    expect(await nodesOf(page)).toBeLessThan(MOST_NODES);
    expect((await heapOf(page)) - before.page).toBeLessThan(60 * MB);
    expect(heapOfInspector() - before.inspector).toBeLessThan(150 * MB);
  });

  it("a filter over 20,000 entries answers at once", async () => {
    const filter = page.getByRole("searchbox", { name: "Filter by text" });
    await filter.pressSequentially("tools/call");
    await page.getByText(/^\d of 20,?000$/).waitFor();
    await page.getByRole("button", { name: "Show all", exact: true }).click();
  });

  it("a result of 5 million characters is cut, and saved as a whole", async () => {
    await runTool(page, "huge");
    await resultOf(page)
      .getByText(/^4,8\d\d,\d{3} more characters\.$/)
      .waitFor();
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      resultOf(page).getByRole("button", { name: "Save all" }).click(),
    ]);
    expect(statSync(await saved.path()).size).toBe(5_000_008);
    expect(watched.events.splice(0)).toEqual(["download: text.txt"]);
    expect(await nodesOf(page)).toBeLessThan(MOST_NODES);
  });

  it("a result of 50 million characters is refused, with what to do", async () => {
    await runTool(page, "enormous");
    await resultOf(page).getByText("Ask for less at once.").waitFor();
    await runTool(page, "markdown");
    await resultOf(page).getByText("Done", { exact: true }).waitFor();
  });

  it("64 questions wait at once, and no more", async () => {
    const connection = (await stateOf(page)).connections.at(-1)?.id ?? "";
    const request = { kind: "tool", name: "asks", arguments: {} } as const;
    await Promise.all(Array.from({ length: 70 }, () => actInPage(page, "call", { connection, request })));
    const question = questionOf(page);
    await question.waitFor();
    await expect.poll(() => page.title()).toContain("(64)");
    const waiting = question.getByRole("list", { name: "Waiting questions" }).getByRole("listitem");
    await expect.poll(() => waiting.count()).toBe(64);
    expect(await nodesOf(page)).toBeLessThan(MOST_NODES);
    await question.getByRole("button", { name: "Decline" }).click();
    await expect.poll(() => page.title()).toContain("(63)");
    await actInPage(page, "disconnect", { connection });
    await question.waitFor({ state: "detached" });
  });

  it("300 attempts to connect end at the limit", async () => {
    const attempts = Array.from({ length: 300 }, () => actInPage(page, "connectUrl", { url: watched.hostile.url }));
    const refusals = (await Promise.allSettled(attempts)).filter(({ status }) => status === "rejected");
    expect(refusals.length).toBeGreaterThanOrEqual(250);
    for (const refusal of refusals) expect(refusal).toMatchObject({ reason: FULL });
    const connections = page.getByRole("region", { name: "Connections" });
    await expect.poll(() => connections.getByRole("button").count()).toBe(50);
  });
});

/** A server that says what it has, and answers nothing more. */
async function startSilentServer(): Promise<string> {
  const result = {
    protocolVersion: ERAS[0],
    capabilities: { tools: {}, resources: {}, prompts: {} },
    serverInfo: { name: "silent", version: "1" },
  };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { id, method } = JSON.parse(body === "" ? "{}" : body) as { id?: number; method?: string };
    if (request.method !== "POST") return void response.writeHead(405).end();
    if (id === undefined) return void response.writeHead(202).end();
    if (method !== "initialize") return;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // It listens on a port, so the address is no path.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

describe.skipIf(!hasBrowser)("servers that never answer", () => {
  it("keep the page from nothing else", async () => {
    const target = urlTarget(await startSilentServer());
    const server = new Server({ name: "quick", version: "1" }).tool("echo", () => "heard");
    const targets = [target, target, serverTarget(server)];
    const { page, close } = await openInspectedPage({ revision: ERAS[0], targets });
    onTestFinished(close);
    const silent = page.getByRole("navigation", { name: "Connections" }).getByRole("button", { name: /^silent ready/ });
    await silent.nth(1).waitFor();
    for (const at of [0, 1]) {
      await silent.nth(at).click();
      await goTo(page, "Use");
      await page.getByText("Loading…").first().waitFor();
      await goTo(page, "Model");
    }
    await goTo(page, "Server");
    await page.getByRole("button", { name: "Disconnect" }).click();
    await page
      .getByText(/^closed/)
      .first()
      .waitFor();
    await chooseConnection(page, "quick");
    await runTool(page, "echo");
    await resultOf(page).getByText("heard").waitFor();
  });
});
