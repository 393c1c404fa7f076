import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import type { Revision } from "@parley/mcp/protocol";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { server as everything } from "../../../../../examples/everything/server.js";
import { peerPath } from "../../../../mcp/test/interop/peer-process.js";
import { peersInstalled } from "../../../../mcp/test/mounts/peer-packages.js";
import { ERAS, programTarget, serverTarget } from "../../engine/opened-engine.js";
import { barriers } from "../../kit/barriers.js";
import { hasBrowser, type InspectedPage, openInspectedPage } from "../../kit/inspected-page.js";
import type { PostedJsonServer } from "../../kit/posted-json.js";
import { goTo, urlTarget } from "../../page/page-session.js";
import { chooseConnection, questionOf, strayRequests } from "../call-steps.js";
import { startFaultyServer } from "./faulty-server.js";

if (!peersInstalled) console.log("the peers are not installed (npm run peers); server-everything was not compared");

const [SESSIONS, STATELESS] = ERAS;
const PEER = peerPath("node_modules/@modelcontextprotocol/server-everything/dist/index.js");

/** A server that speaks one revision alone. */
const speaking = (revision: Revision) =>
  new Server({ name: `only ${revision}`, version: "1" }, { revisions: [revision] }).tool("hello", {}, () => "hello");

describe.skipIf(!hasBrowser)("the same call in both eras", () => {
  let opened: InspectedPage;
  let page: Page;
  let faulty: PostedJsonServer;
  let served: Awaited<ReturnType<typeof serveHttp>>;
  beforeAll(async () => {
    served = await serveHttp(everything, { port: 0 });
    faulty = await startFaultyServer();
    const targets = [
      urlTarget(served.url),
      urlTarget(faulty.url),
      ...ERAS.map((revision) => serverTarget(speaking(revision))),
      ...(peersInstalled ? [programTarget(PEER, "stdio")] : []),
    ];
    opened = await openInspectedPage({ targets });
    page = opened.page;
  });
  afterAll(async () => {
    await opened?.close();
    await faulty?.close();
    await served?.close();
  });

  /** Calls a tool of a connection in both eras, after the user was asked. */
  async function callInBoth(connection: string, tool: string, args = "{}"): Promise<void> {
    await chooseConnection(page, connection);
    await goTo(page, "Eras");
    await page.getByLabel("Tool", { exact: true }).fill(tool);
    await page.getByLabel("Arguments (JSON)").fill(args);
    await page.getByRole("button", { name: "Call in both" }).click();
    await page.getByRole("button", { name: "Call twice" }).click();
  }

  const facts = (revision: string) =>
    page.locator(".compare-facts").filter({ has: page.getByRole("heading", { name: revision, exact: true }) });
  const messages = async (part: string, revision: string) => {
    const list: Locator = page.getByRole("list", { name: `${part} in ${revision}` });
    const cells = (buttons: Element[]) =>
      buttons.map((button) => [...button.children].map((child) => child.textContent ?? ""));
    const rows = await list.getByRole("button").evaluateAll(cells);
    // The arrow is for the eye alone.
    return rows.map(([direction = "", label]) => `${direction.replace(/^\W/, "")} ${label}`);
  };
  const differences = () => page.getByRole("region", { name: "Differences between the results" });

  it("lays the rounds of questions side by side, and asks the user in each", async () => {
    await callInBoth("Everything", "survey");
    for (const stars of ["3", "5"]) {
      const field = questionOf(page).getByRole("textbox", { name: "stars", exact: true });
      await expect.poll(() => field.inputValue()).toBe("");
      await field.fill(stars);
      await questionOf(page).getByRole("button", { name: "Accept" }).click();
    }
    await differences().waitFor();
    for (const revision of ERAS) {
      expect(await facts(revision).textContent()).toMatch(/done[\d.]+ m?s · \d+ messages · .*Every message matches/);
      expect(await messages("Request", revision)).toEqual(["sent tools/call"]);
      expect(await messages("Response", revision)).toEqual(["received tools/call"]);
    }
    const part = "Questions and answers";
    expect(await messages(part, SESSIONS)).toEqual(["received elicitation/create", "sent elicitation/create"]);
    expect(await messages(part, STATELESS)).toEqual(["received tools/call", "sent tools/call"]);
    const row = differences().getByRole("row", { name: /content\.0\.text/ });
    expect(await row.getByRole("cell").allTextContents()).toEqual(['"3 stars"', '"5 stars"']);
    expect(await differences().getByRole("columnheader").allTextContents()).toEqual(["Path", SESSIONS, STATELESS]);
    expect(await barriers(page)).toEqual([]);
  });

  it("shows each message as a whole, and the results as the same where they are", async () => {
    await callInBoth("Everything", "sum", '{ "numbers": [1, 2] }');
    await differences().getByText("The results are the same.").waitFor();
    const closed = page.getByRole("region", { name: "Response" }).getByRole("button", { expanded: false });
    for (const left of [1, 0]) {
      await closed.first().click();
      await expect.poll(() => closed.count()).toBe(left);
    }
    const texts = await page.getByRole("region", { name: /^result tools\/call/ }).allTextContents();
    const results = texts.map((text) => JSON.parse(text).result);
    expect(results.map(({ structuredContent }) => structuredContent.sum)).toEqual([3, 3]);
    expect(results.map(({ resultType }) => resultType)).toEqual([undefined, "complete"]);
  });

  it("says where messages of each era break its schema", async () => {
    await callInBoth("faulty", "wrong-flag");
    await differences().waitFor();
    for (const revision of ERAS) {
      expect(await facts(revision).textContent()).toContain("1 schema violation.");
    }
    const answer = page.getByRole("list", { name: `Response in ${STATELESS}` });
    await answer.getByRole("button", { name: /1 violation/ }).click();
    await answer.getByText('is the string "no"; CallToolResult requires a boolean').waitFor();
  });

  it.each([
    [SESSIONS, STATELESS],
    [STATELESS, SESSIONS],
  ])("fails in the era that a server does not speak: it speaks %s", async (spoken, other) => {
    await callInBoth(`only ${spoken}`, "hello");
    await differences().waitFor();
    expect(await facts(spoken).textContent()).toContain("done");
    expect(await facts(other).textContent()).toContain("failed");
    expect(await facts(other).locator(".compare-problem").textContent()).toContain(spoken);
    expect(await messages("Response", spoken)).toEqual(["received tools/call"]);
    const none = page.getByRole("list", { name: `Response in ${other}` });
    expect(await none.textContent()).toBe("none");
  });

  it.skipIf(!peersInstalled)("fails so for server-everything, which knows no stateless revision", async () => {
    const connection = page.getByRole("navigation", { name: "Connections" }).getByRole("button", { name: /verything/ });
    await connection.filter({ hasText: SESSIONS }).last().click();
    await goTo(page, "Eras");
    await page.getByLabel("Tool", { exact: true }).fill("echo");
    await page.getByLabel("Arguments (JSON)").fill('{ "message": "hi" }');
    await page.getByRole("button", { name: "Call in both" }).click();
    await page.getByRole("button", { name: "Call twice" }).click();
    await differences().waitFor();
    expect(await facts(SESSIONS).textContent()).toContain("done");
    expect(await facts(STATELESS).textContent()).toContain("failed");
  });

  it("leaves no error in the page, and no request to anywhere else", () => {
    expect(opened.problems).toEqual([]);
    expect(strayRequests(opened)).toEqual([]);
  });
});
