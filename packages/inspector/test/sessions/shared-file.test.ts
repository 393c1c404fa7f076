import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { connect } from "@parley/mcp";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { driveEngine } from "../engine/opened-engine.js";
import { startHostileServer } from "../hostile/hostile-server.js";
import { barriers } from "../kit/barriers.js";
import { launchBrowser } from "../kit/browser.js";
import { builtPage } from "../kit/built-page.js";
import { hasBrowser } from "../kit/inspected-page.js";
import { timelineOf } from "../page/page-session.js";

/** The file of a session with a hostile server, which put scripts into everything. */
async function hostileFile(): Promise<string> {
  const hostile = await startHostileServer({ flood: 10 });
  const driven = driveEngine(
    { targets: [{ kind: "url", shown: "hostile", open: (options) => connect(hostile.url, options) }] },
    await builtPage(),
  );
  const { connection } = await driven.act("connect", { target: "target-1" });
  await driven.reaches(connection, "ready");
  await driven.act("list", { connection, kind: "tools" });
  for (const name of ["markdown", "svg", "links", "structured", "fails", "flood"]) {
    const { call } = await driven.act("call", { connection, request: { kind: "tool", name, arguments: {} } });
    await driven.when(({ calls }) => calls.some(({ id, status }) => id === call && status !== "running"));
  }
  const { text } = await driven.act("share", {});
  await hostile.close();
  return text;
}

interface OpenedFile {
  readonly page: Page;
  readonly requests: string[];
  readonly problems: string[];
  readonly address: string;
}

async function opened(text: string): Promise<OpenedFile> {
  const folder = mkdtempSync(join(tmpdir(), "parley-shared-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "shared.html");
  writeFileSync(file, text);
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  const [requests, problems]: [string[], string[]] = [[], []];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  const address = pathToFileURL(file).href;
  await page.goto(address);
  return { page, requests, problems, address };
}

describe.skipIf(!hasBrowser)("a shared file", () => {
  it("shows the timeline by itself, and asks nobody for anything", async () => {
    const { page, requests, problems, address } = await opened(await hostileFile());
    const rows = timelineOf(page).getByRole("option");
    await rows.first().waitFor();
    await timelineOf(page).focus();
    await page.keyboard.press("Home");
    for (let moved = 0; moved < 25; moved++) await page.keyboard.press("ArrowDown");
    await page.getByRole("region", { name: "Entry" }).waitFor();
    for (const tab of ["Headers", "Waterfall", "Copy as", "Message"]) {
      await page.getByRole("tab", { name: tab }).click();
    }
    await page.getByRole("tablist", { name: "Views" }).getByRole("tab", { name: "Server" }).click();
    expect(await page.getByRole("tab").allTextContents()).not.toContain("Use");
    expect(await page.evaluate("globalThis.hacked")).toBeUndefined();
    expect(await barriers(page)).toEqual([]);
    expect(requests).toEqual([address]);
    expect(problems).toEqual([]);
  });

  it("runs no script but its own, whatever is put into it", async () => {
    const text = await hostileFile();
    const more =
      "<script>globalThis.hacked = true</script><img src=x onerror='globalThis.hacked = true'>" +
      "<script type=module>globalThis.hacked = true</script><style>body { display: none }</style>";
    const { page, problems } = await opened(text.replace("</body>", `${more}</body>`));
    await timelineOf(page).waitFor();
    const refused = () => problems.filter((problem) => problem.includes("Content Security Policy")).length;
    await expect.poll(refused).toBeGreaterThanOrEqual(4);
    expect(await page.evaluate("globalThis.hacked")).toBeUndefined();
    const fetched = page.evaluate("fetch('http://127.0.0.1:1/').then(() => 'reached', () => 'refused')");
    expect(await fetched).toBe("refused");
  });

  it("shows nothing where it was cut, and still asks nobody", async () => {
    const text = (await hostileFile()).replace('{"format":"parley-shared-session"', '{"format":');
    const { page, requests, address } = await opened(text);
    await page.getByText("No messages yet.").waitFor();
    expect(requests).toEqual([address]);
  });
});
