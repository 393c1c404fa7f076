import { fileURLToPath } from "node:url";
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { REVISIONS, shownRevision } from "@parley/mcp/protocol";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { server as everything } from "../../../../examples/everything/server.js";
import { freePort } from "../../../mcp/test/free-port.js";
import { peerPath, startPeer } from "../../../mcp/test/interop/peer-process.js";
import { peersInstalled } from "../../../mcp/test/mounts/peer-packages.js";
import { bundleFixture } from "../../../mcp/test/stdio/bundle-fixture.js";
import { eventually, isRunning } from "../../../mcp/test/stdio/processes.js";
import type { InspectorTarget } from "../../src/connections/inspector-target.js";
import { ERAS, programTarget, serverTarget } from "../engine/opened-engine.js";
import { barriers } from "../kit/barriers.js";
import { hasBrowser, type InspectedPage, openInspectedPage } from "../kit/inspected-page.js";
import { goTo, timelineOf } from "../page/page-session.js";
import { connectionItems, connectToUrl, shownConnection } from "./connect-steps.js";

if (!peersInstalled) console.log("the peers are not installed (npm run peers); server-everything was not inspected");

const PROGRAM = fileURLToPath(new URL("../connections/program-server.mjs", import.meta.url));
const EVERYTHING = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
/** How long the program that hangs is waited for; all others have the time that is usual. */
const HANGING_MS = 5_000;

const NEWEST = REVISIONS.at(-1);

/** The same target, given up early. */
function impatient(target: InspectorTarget): InspectorTarget {
  const open: InspectorTarget["open"] = (options, hooks) =>
    target.open({ ...options, timeouts: { ...options.timeouts, connectMs: HANGING_MS } }, hooks);
  return { ...target, open };
}

describe.skipIf(!hasBrowser)("connections of the page", () => {
  let opened: InspectedPage;
  let page: Page;

  beforeAll(async () => {
    const program = await bundleFixture(new URL("../../../../examples/everything/main.ts", import.meta.url));
    const targets = [
      serverTarget(everything),
      programTarget(program, "--stdio"),
      impatient(programTarget(PROGRAM, "hangs")),
      ...["", "greets", "dies"].map((mode) => programTarget(PROGRAM, mode)),
      ...(peersInstalled ? [programTarget(peerPath(EVERYTHING), "stdio")] : []),
    ];
    opened = await openInspectedPage({ targets });
    page = opened.page;
  });
  afterAll(() => opened?.close());

  const main = () => page.getByRole("main");
  const problem = () => main().getByRole("note", { name: "Problem" });
  const fact = (name: string) =>
    main()
      .locator("dl > div")
      .filter({ has: page.getByRole("term").filter({ hasText: name }) })
      .getByRole("definition")
      .textContent();

  /** Shows the connection at a place in the list, and what is known of its server. */
  async function show(at: number): Promise<void> {
    await connectionItems(page).nth(at).click();
    await goTo(page, "Server");
  }

  /** Shows only the events of one connection, and gives what reads them: they come later than the status, and stderr when it likes. */
  async function eventsOf(at: number): Promise<() => Promise<string>> {
    await goTo(page, "Timeline");
    await page.getByLabel("Kind", { exact: true }).selectOption("event");
    await page.getByLabel("Connection", { exact: true }).selectOption({ index: at + 1 });
    return async () => (await timelineOf(page).getByRole("option").allInnerTexts()).join("\n");
  }

  /** The processes that a connection has had, once there were so many. */
  async function processesOf(at: number, count: number): Promise<number[]> {
    const events = await eventsOf(at);
    const started = async () =>
      [...(await events()).matchAll(/stderr: started as (\d+)/g)].map(([, pid]) => Number(pid));
    await expect.poll(started).toHaveLength(count);
    return started();
  }

  /** Waits until the list says so at a place. */
  const until = (at: number, words: string | RegExp) =>
    connectionItems(page).nth(at).filter({ hasText: words }).waitFor();

  it("are those of the terminal at first, all at once, each with how it is", async () => {
    const newest = `ready · ${NEWEST} · stateless`;
    await until(0, newest);
    await until(1, newest);
    await until(3, "ready");
    await until(4, "ready");
    await until(5, "failed");
    await until(2, /connecting|failed/);
    const names = (await connectionItems(page).allTextContents()).slice(0, 6).map((text) => text.split(" ")[0]);
    expect(names.map((name) => name?.replace(/(?:connecting|ready|failed).*/, ""))).toEqual([
      "Everything",
      "Everything",
      "node",
      "by-hand",
      "by-hand",
      "node",
    ]);
    const offered = page.getByRole("region", { name: "From the terminal" }).getByRole("button");
    expect(await offered.count()).toBe(peersInstalled ? 7 : 6);
  });

  it.skipIf(!peersInstalled)("negotiate the older era with server-everything, which speaks no other", async () => {
    await until(6, /ready · \S+ · stateful/);
    await show(6);
    expect(await fact("Era")).toBe("stateful");
    expect(await fact("Revision")).toMatch(/ \(negotiated\)$/);
    expect(await fact("Transport")).toContain("stdio");
    const peer = await startPeer(EVERYTHING, ["streamableHttp"]);
    onTestFinished(() => peer.stop());
    await connectToUrl(page, peer.url);
    await shownConnection(page, /ready · \S+ · stateful/);
    await page.getByLabel("Protocol revision").selectOption(String(NEWEST));
    await shownConnection(page, "failed");
    expect(await problem().textContent()).toContain("Fix: Choose another revision, or let it be negotiated.");
    await forgetShown();
  });

  it.skipIf(!peersInstalled)("reach servers of the first revision by the transport of that time", async () => {
    const peer = await startPeer(EVERYTHING, ["sse"]);
    onTestFinished(() => peer.stop());
    await connectToUrl(page, peer.url, { transport: "Streamable HTTP" });
    await goTo(page, "Server");
    await shownConnection(page, "failed");
    expect(await problem().textContent()).toMatch(/Fix: ./);
    await forgetShown();
    for (const transport of ["Auto-detect", "HTTP with SSE (2024)"]) {
      await connectToUrl(page, peer.url, { transport });
      await shownConnection(page, /ready · \S+ · stateful/);
      await page.getByRole("button", { name: "Disconnect" }).click();
      await shownConnection(page, "closed");
      await forgetShown();
    }
  });

  describe.each(ERAS)("in %s", (revision) => {
    it("are opened by an address and a revision, and again in another", async () => {
      const handle = await serveHttp(everything, { port: 0 });
      onTestFinished(() => handle.close());
      await connectToUrl(page, handle.url, { revision });
      await goTo(page, "Server");
      const { era } = shownRevision(revision);
      await shownConnection(page, `ready · ${revision} · ${era}`);
      expect(await fact("Revision")).toBe(`${revision} (chosen)`);
      expect(await fact("Era")).toBe(era);
      expect(await fact("Target")).toBe(handle.url);
      const select = page.getByLabel("Protocol revision");
      expect(await select.inputValue()).toBe(revision);
      for (const other of REVISIONS.filter((one) => one !== revision)) {
        await select.selectOption(other);
        await shownConnection(page, `ready · ${other} · ${shownRevision(other).era}`);
      }
      await select.selectOption("");
      // The list looks the same before and after: the last of the others was the newest.
      await expect.poll(() => fact("Revision")).toBe(`${NEWEST} (negotiated)`);
      await shownConnection(page, `ready · ${NEWEST}`);
      await page.getByRole("button", { name: "Disconnect" }).click();
      await shownConnection(page, "closed");
      await forgetShown();
    });

    it("to a server that is started again with other tools show these", async () => {
      const port = await freePort();
      const serving = (tool: string) =>
        serveHttp(
          new Server({ name: "edited", version: "1" }).tool(tool, () => ""),
          { port },
        );
      const first = await serving("before");
      await connectToUrl(page, first.url, { revision });
      await shownConnection(page, "ready");
      await goTo(page, "Use");
      const tools = page.getByRole("listbox", { name: "List of tools" }).getByRole("option");
      await tools.filter({ hasText: "before" }).waitFor();
      await first.close();
      const second = await serving("after");
      onTestFinished(() => second.close());
      await tools.filter({ hasText: "after" }).waitFor();
      expect(await tools.count()).toBe(1);
      await goTo(page, "Server");
      await page.getByRole("button", { name: "Disconnect" }).click();
      await shownConnection(page, "closed");
      await forgetShown();
    });

    it("to a program are opened in that revision, too", async () => {
      await show(1);
      await page.getByLabel("Protocol revision").selectOption(revision);
      await shownConnection(page, `ready · ${revision}`);
      expect(await fact("Transport")).toContain("stdio");
      expect(await fact("Target")).toBe("node --stdio");
    });
  });

  async function forgetShown(): Promise<void> {
    const before = await connectionItems(page).count();
    await page.getByRole("button", { name: "Remove" }).click();
    await expect.poll(() => connectionItems(page).count()).toBe(before - 1);
  }

  it("to an address where nobody listens fail, with what to do", async () => {
    await connectToUrl(page, `http://127.0.0.1:${await freePort()}/mcp`);
    await goTo(page, "Server");
    await shownConnection(page, "failed");
    expect(await problem().textContent()).toMatch(/^connect_failed.*Fix: ./);
    await forgetShown();
  });

  it.each([
    ["ftp://127.0.0.1/mcp", "", /not the address of a server.*Fix: Use an http or https address/],
    ["http://ada:secret@127.0.0.1/mcp", "", /user name or a password.*Fix: Send them in the/],
    ["http://127.0.0.1/mcp", "Host: elsewhere", /host is set by the transport.*Fix: Remove it/],
    ["http://127.0.0.1/mcp", "no colon", /"no colon" is not a header; write one header per line/],
  ])("to %s with %j are refused before anything is sent", async (url, headers, message) => {
    const before = await connectionItems(page).count();
    await page.getByRole("button", { name: "Connect to a URL…" }).click();
    const dialog = page.getByRole("dialog", { name: "Connect to a URL" });
    await dialog.getByLabel("URL").fill(url);
    await dialog.getByLabel("Headers, one per line").fill(headers);
    await dialog.getByRole("button", { name: "Connect", exact: true }).click();
    expect(await dialog.getByRole("note", { name: "Problem" }).textContent()).toMatch(message);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await connectionItems(page).count()).toBe(before);
  });

  it("to a program that ends at once say how it ended", async () => {
    await connectionItems(page).nth(5).click();
    await goTo(page, "Use");
    await main().getByText("The connection failed.").waitFor();
    expect(await problem().textContent()).toMatch(/3.*Fix: ./);
    expect(await barriers(page)).toEqual([]);
    await main().getByRole("button", { name: "Go to the server" }).click();
    expect(await problem().textContent()).toMatch(/3.*Fix: ./);
    expect(await main().getByRole("heading", { name: "Capabilities" }).count()).toBe(0);
    expect(await barriers(page)).toEqual([]);
    const events = await eventsOf(5);
    await expect.poll(events).toMatch(/stderr: started as \d+/);
    await expect.poll(events).toMatch(/failed\s+connection failed: /);
  });

  it("to a program that prints something else show what it printed", async () => {
    const events = await eventsOf(4);
    await expect.poll(events).toMatch(/failed\s+the server violated the protocol: .*Welcome to the server!/);
  });

  it("that are lost come back by themselves, which is seen", async () => {
    const [pid = 0] = await processesOf(3, 1);
    process.kill(pid, "SIGKILL");
    await until(3, /ready.*1 reconnect/);
    await expect.poll(await eventsOf(3)).toMatch(/failed\s+connection lost: [\s\S]*connected again in /);
    expect(await processesOf(3, 2)).toContain(pid);
    await show(3);
    await main().getByText("1 reconnect").waitFor();
    expect(await problem().count()).toBe(0);
  });

  it("are ended by the user, with their program, and taken from the list, and made anew", async () => {
    const [, last = 0] = await processesOf(3, 2);
    expect(isRunning(last)).toBe(true);
    await show(3);
    await page.getByRole("button", { name: "Disconnect" }).click();
    await shownConnection(page, "closed");
    expect(await eventually(() => !isRunning(last))).toBe(true);
    await forgetShown();
    const before = await connectionItems(page).count();
    const target = page.getByRole("region", { name: "From the terminal" }).getByRole("button").nth(3);
    expect(await target.textContent()).toMatch(/Connect$/);
    await target.click();
    await connectionItems(page)
      .nth(before)
      .filter({ hasText: /by-hand.*ready/ })
      .waitFor();
    await shownConnection(page, /by-hand.*ready/);
    expect(await target.textContent()).toMatch(/Open another connection$/);
  });

  it("to a program that hangs are given up, with what to do", async () => {
    await until(2, "failed");
    await show(2);
    expect(await problem().textContent()).toMatch(/is running but did not answer.*Fix: ./);
  });

  it("are kept in the address: a reload shows the same one", async () => {
    await show(1);
    const name = await (await shownConnection(page, "ready")).textContent();
    await page.reload();
    expect(await (await shownConnection(page, "ready")).textContent()).toBe(name);
    await main().getByRole("heading", { name: "Everything" }).waitFor();
  });

  it("fold away in a narrow page when one was chosen", async () => {
    const { inspector } = opened;
    const narrow = await openInspectedPage({}, { inspector, viewport: { width: 400, height: 800 } });
    onTestFinished(() => narrow.close());
    const fold = narrow.page.getByRole("button", { expanded: false, name: /^Everything, ready/ });
    await fold.click();
    await connectionItems(narrow.page).filter({ hasText: "by-hand" }).first().click();
    await narrow.page.getByRole("button", { expanded: false, name: /^by-hand, ready/ }).waitFor();
    expect(await connectionItems(narrow.page).count()).toBe(0);
  });

  it("were made by the inspector: the page asked nobody else, and has no errors", () => {
    const { origin } = new URL(opened.inspector.url);
    expect(opened.requests.filter((url) => !url.startsWith(`${origin}/`))).toEqual([]);
    expect(opened.problems).toEqual([]);
  });
});
