import { spawnSync } from "node:child_process";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HOSTILE_ARGUMENTS } from "../../copy/copied-calls.js";
import { AUTHORIZATION, type EchoServer, echoServer, startEchoServer } from "../../copy/echo-server.js";
import { runLines } from "../../copy/run-lines.js";
import { ERAS, serverTarget } from "../../engine/opened-engine.js";
import { hasBrowser, type InspectedPage, openInspectedPage } from "../../kit/inspected-page.js";
import { goTo, timelineOf, urlTarget } from "../../page/page-session.js";
import { chooseTool, resultOf, strayRequests } from "../call-steps.js";
import { ALL_ROWS, chooseEntry, choosePart, shownMessage } from "./timeline-steps.js";

const hasCurl = spawnSync("curl", ["--version"]).status === 0;
if (!hasCurl) console.log("the inspector's copies: curl is not installed, so none was run");

const FORMS = ["curl", "parley", "TypeScript", "JSON"] as const;
type Form = (typeof FORMS)[number];

describe.skipIf(!hasBrowser).each(ERAS)("a request that is copied from the page, in %s", (revision) => {
  let opened: InspectedPage;
  let page: Page;
  let server: EchoServer;
  const inProcess: unknown[] = [];
  beforeAll(async () => {
    server = await startEchoServer();
    const target = urlTarget(server.url, { Authorization: AUTHORIZATION });
    const targets = [{ ...target, secrets: [AUTHORIZATION], authorized: true }, serverTarget(echoServer(inProcess))];
    opened = await openInspectedPage({ targets, revision }, { viewport: ALL_ROWS });
    page = opened.page;
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page
      .getByRole("button", { name: /^echo ready.*/ })
      .nth(1)
      .waitFor();
  });
  afterAll(async () => {
    await opened?.close();
    await server?.close();
  });

  /** Calls the tool with the arguments that hurt, on the connection at a place of the list. */
  async function callEcho(at: number): Promise<void> {
    await page
      .getByRole("button", { name: /^echo ready/ })
      .nth(at)
      .click();
    const panel = await chooseTool(page, "echo");
    await panel.getByRole("tab", { name: "JSON", exact: true }).first().click();
    await panel.getByLabel("The whole value as JSON").fill(JSON.stringify(HOSTILE_ARGUMENTS));
    await panel.getByRole("button", { name: /^Run/ }).click();
    await resultOf(page).getByText("kept").waitFor();
    await goTo(page, "Timeline");
    // The newest entry is the one of this call only when it has come.
    const answers = timelineOf(page).getByRole("option", { name: /received.*result.*tools\/call echo/ });
    await expect.poll(() => answers.count()).toBe(at + 1);
  }

  /** Copies the chosen entry, and gives what is on the clipboard. */
  async function copied(form: Form): Promise<string> {
    await page.evaluate(() => navigator.clipboard.writeText("nothing"));
    await page.getByRole("button", { name: `Copy as ${form}` }).click();
    const shown = page.getByRole("region", { name: form, exact: true });
    await shown.waitFor();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    expect(await shown.textContent()).toBe(text);
    expect(text).not.toContain("s3cr3t");
    return text;
  }

  it("is on the clipboard in each form, from the request or its answer, without secrets", async () => {
    await callEcho(0);
    await chooseEntry(page, /sent.*request.*tools\/call echo/);
    const message = JSON.parse(await shownMessage(page));
    await choosePart(page, "Copy as");
    const texts = new Map<Form, string>();
    for (const form of FORMS) texts.set(form, await copied(form));
    expect(JSON.parse(texts.get("JSON") ?? "")).toEqual(message);
    expect(texts.get("parley")).toMatch(new RegExp(`^parley call ${server.url} echo `));
    expect(texts.get("TypeScript")).toContain('from "@parley/mcp"');
    expect(texts.get("TypeScript")).toContain('callTool("echo"');
    await page.getByRole("button", { name: "Go to response" }).click();
    for (const form of ["curl", "parley", "TypeScript"] as const) expect(await copied(form)).toBe(texts.get(form));
    expect(JSON.parse(await copied("JSON")).result.content[0].text).toBe("kept");
  });

  it.skipIf(!hasCurl)("runs as it was pasted, and asks the server the same", async () => {
    await chooseEntry(page, /sent.*request.*tools\/call echo/);
    await choosePart(page, "Copy as");
    server.asked.length = 0;
    const printed = await runLines("sh", await copied("curl"), { AUTHORIZATION, NO_PROXY: "*" });
    expect(printed).toContain('"kept"');
    expect(server.asked).toEqual([HOSTILE_ARGUMENTS]);
  });

  it("is none where curl cannot reach, and says so", async () => {
    await callEcho(1);
    await chooseEntry(page, /sent.*request.*tools\/call echo/);
    await choosePart(page, "Copy as");
    await page.getByRole("button", { name: "Copy as curl" }).click();
    const note = page.getByRole("note", { name: "Problem" });
    await note.getByText("only requests to a URL can be copied for curl").waitFor();
    await note.getByText("Copy it as parley or as TypeScript").waitFor();
    await copied("TypeScript");
    await note.waitFor({ state: "detached" });
    await chooseEntry(page, /event.*connected/);
    await page.getByRole("button", { name: "Copy as parley" }).click();
    await note.getByText("the entry is not a request").waitFor();
  });

  it("leaves no error in the page, and no request to anywhere else", () => {
    expect(opened.problems).toEqual([]);
    expect(strayRequests(opened)).toEqual([]);
  });
});
