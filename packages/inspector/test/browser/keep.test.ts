import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { connect, Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { parseRecording } from "@parley/mcp/recording";
import type { Download, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { peerPath } from "../../../mcp/test/interop/peer-process.js";
import { peersInstalled } from "../../../mcp/test/mounts/peer-packages.js";
import type { InspectorTarget } from "../../src/connections/inspector-target.js";
import { ERAS } from "../engine/opened-engine.js";
import { hasBrowser, type InspectedPage, openInspectedPage } from "../kit/inspected-page.js";
import { goTo, timelineOf } from "../page/page-session.js";
import { chooseConnection, resultOf, runTool, strayRequests } from "./call-steps.js";
import { useServer } from "./use/use-steps.js";

/** Secrets of every place that a session has; none may be in a file that is kept. */
const CANARIES = {
  header: "canary-of-a-header-0123456789",
  url: "canary-of-an-address-0123456789",
  argument: "canary-of-an-argument",
  environment: "canary-of-a-variable-0123456789",
};
const leaksOf = (text: string) => Object.values(CANARIES).filter((canary) => text.includes(canary));

const EVERYTHING = peerPath("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
if (!peersInstalled) console.log("the peers are not installed (npm run peers); no variable of a program was kept");

const clock = { time: "noon" };
const input = {
  type: "object",
  properties: { place: { type: "string" }, password: { type: "string" } },
  required: ["place"],
} as const;
const server = new Server({ name: "clock", version: "1" }).tool(
  "read",
  { input, annotations: { readOnlyHint: true } },
  ({ place, password = "none" }) => `${clock.time} in ${place}, by ${CANARIES.header}; your password=${password}`,
);

/** A server that is told secrets in its address and in a header, which the terminal gave. */
function guardedTargets(address: string): InspectorTarget[] {
  const url = `${address}?key=${CANARIES.url}`;
  return ERAS.map((revision) => ({
    kind: "url",
    shown: `${address}?key=[redacted]`,
    url,
    secrets: [CANARIES.header, CANARIES.url],
    authorized: true,
    open: (options) =>
      connect(url, {
        ...options,
        revisions: [revision],
        headers: { authorization: `Bearer ${CANARIES.header}`, "x-tenant": CANARIES.header },
      }),
  }));
}

/** A program that tells all of its variables. */
const programTarget: InspectorTarget = {
  kind: "command",
  shown: "node server-everything",
  secrets: [CANARIES.environment],
  open: (options, { onStderr }) =>
    connect(
      {
        command: process.execPath,
        args: [EVERYTHING, "stdio"],
        env: { SERVICE: CANARIES.environment },
        stderr: onStderr,
      },
      options,
    ),
};

describe.skipIf(!hasBrowser)("what is kept of sessions", () => {
  let opened: InspectedPage;
  let page: Page;
  let served: Awaited<ReturnType<typeof serveHttp>>;
  const folder = mkdtempSync(join(tmpdir(), "parley-keep-"));

  beforeAll(async () => {
    served = await serveHttp(server, { port: 0 });
    const targets = [...guardedTargets(served.url), ...(peersInstalled ? [programTarget] : [])];
    opened = await openInspectedPage({ targets });
    page = opened.page;
  });
  afterAll(async () => {
    await opened?.close();
    await served?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const button = (name: string) => page.getByRole("button", { name, exact: true });
  /** Chooses the option that begins with a text, once there is one. */
  async function choose(label: string, begin: string): Promise<void> {
    const box = page.getByRole("combobox", { name: label, exact: true });
    const option = box.getByRole("option", { name: new RegExp(`^${begin}`) }).first();
    await box.selectOption(await option.getAttribute("value"));
  }

  async function saved(name: string): Promise<Download> {
    const [download] = await Promise.all([page.waitForEvent("download"), button(name).click()]);
    return download;
  }
  const textOf = async (download: Download) => readFileSync(await download.path(), "utf8");

  async function read(place: string, password?: string): Promise<void> {
    await runTool(page, "read", { place, ...(password === undefined ? {} : { password }) });
    await resultOf(page).getByText(`${clock.time} in ${place}`).first().waitFor();
  }

  describe.each(ERAS)("in %s", (revision) => {
    let recording: string;

    it("is recorded from one moment to another, and exported without secrets", async () => {
      clock.time = "noon";
      await useServer(page, "clock", revision);
      await read("Rome");
      await goTo(page, "Session");
      await button("Start recording").click();
      await page.getByText(/recording, \d+ messages/).waitFor();
      await useServer(page, "clock", revision);
      await read("Oslo");
      await read("Bergen", CANARIES.argument);
      await goTo(page, "Session");
      await button("Stop recording").click();
      await button("Start recording").waitFor();
      await useServer(page, "clock", revision);
      await read("Paris");
      await goTo(page, "Session");
      const exports = page.getByRole("region", { name: "Export" }).getByRole("listitem");
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        exports.nth(ERAS.indexOf(revision)).getByRole("button").click(),
      ]);
      expect(download.suggestedFilename()).toMatch(/^clock-[\d-]+\.jsonl$/);
      recording = await textOf(download);
      const { header, messages } = parseRecording(recording, "kept");
      expect(header).toMatchObject({ revision, server: { name: "clock" }, redacted: true });
      expect(messages.length).toBeGreaterThanOrEqual(4);
      expect(recording).toContain("noon in Oslo");
      expect(recording).not.toMatch(/in Rome|in Paris/);
      expect(leaksOf(recording)).toEqual([]);
    });

    it("is imported, and its messages are held to the schema", async () => {
      await page
        .getByLabel(/Choose a recording/)
        .setInputFiles({ name: `${revision}.jsonl`, mimeType: "application/x-ndjson", buffer: Buffer.from(recording) });
      await page
        .locator("[aria-current=true]")
        .filter({ hasText: `imported session · ${revision}` })
        .waitFor();
      await choose("Connection", `clock · imported session · ${revision}`);
      await timelineOf(page)
        .getByRole("option", { name: /result.*tools\/call.*read/ })
        .last()
        .click();
      await page.getByText(`Matches the published schema CallToolResult of ${revision}`).waitFor();
    });

    it("is replayed, and what is answered differently is shown at its place", async () => {
      await goTo(page, "Session");
      await choose("Session", `clock · imported session · ${revision}`);
      await choose("Server", `clock · ready · ${revision}`);
      await button("Replay").click();
      await page.getByText(/^[1-9]\d* same, 0 different, 1 skipped$/).waitFor();
      for (const shown of ['tools/call read {"place":"Oslo"}', '"password":"[redacted]"']) {
        await page.getByRole("region", { name: "Replay" }).getByText(shown).first().waitFor();
      }
      clock.time = "midnight";
      await button("Replay").click();
      await page.getByText(/^\d+ same, 1 different, 1 skipped$/).waitFor();
      const difference = page.getByRole("region", { name: "Differences in tools/call read" });
      expect(await difference.textContent()).toMatch(/content\.0\.text.*noon in Oslo.*midnight in Oslo/);
    });
  });

  it.skipIf(!peersInstalled)(
    "has no variable that the terminal gave a program, whatever the program tells",
    async () => {
      await chooseConnection(page, "Everything Reference Server");
      await runTool(page, "get-env");
      await resultOf(page).getByText("SERVICE").first().waitFor();
      await goTo(page, "Session");
      const row = page
        .getByRole("region", { name: "Export" })
        .getByRole("listitem")
        .filter({ hasText: "server-everything" });
      const [download] = await Promise.all([page.waitForEvent("download"), row.getByRole("button").click()]);
      const text = await textOf(download);
      expect(text).toContain("SERVICE");
      expect(leaksOf(text)).toEqual([]);
    },
  );

  it("is shared as one file that shows it from a disk, without secrets and without a request", async () => {
    await goTo(page, "Session");
    const download = await saved("Share as HTML");
    const file = join(folder, download.suggestedFilename());
    await download.saveAs(file);
    const text = readFileSync(file, "utf8");
    expect(leaksOf(text)).toEqual([]);
    expect(text).toContain("noon in Oslo");
    const address = pathToFileURL(file).href;
    const other = await page.context().newPage();
    await other.goto(address);
    await other.getByText("read-only").waitFor();
    const connections = other.getByRole("navigation", { name: "Connections" });
    for (const revision of ERAS) expect(await connections.textContent()).toContain(revision);
    const rows = timelineOf(other).getByRole("option", { name: /request.*tools\/call.*read/ });
    await rows.first().click();
    await other.getByText(/Matches the published schema CallToolRequest of/).waitFor();
    await other.getByRole("tab", { name: "Waterfall" }).click();
    const waterfall = other.getByRole("table", { name: /from the first to the last entry$/ });
    await expect.poll(() => waterfall.getByRole("row").count()).toBeGreaterThanOrEqual(2);
    await other.getByRole("tab", { name: "Headers" }).click();
    const headers = other.getByRole("tabpanel", { name: "Headers" });
    await expect.poll(() => headers.textContent()).toContain("[redacted]");
    await other.close();
    expect(strayRequests(opened)).toEqual([address]);
    expect(opened.problems).toEqual([]);
  });
});
