import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { server as everything } from "../../../../examples/everything/server.js";
import { peerPath } from "../../../mcp/test/interop/peer-process.js";
import { peersInstalled } from "../../../mcp/test/mounts/peer-packages.js";
import { ERAS, programTarget } from "../engine/opened-engine.js";
import { barriers } from "../kit/barriers.js";
import { hasBrowser, type InspectedPage, openInspectedPage } from "../kit/inspected-page.js";
import { goTo } from "../page/page-session.js";
import { chooseConnection, resultOf, runTool, strayRequests } from "./call-steps.js";
import { targetsInBothEras, useServer } from "./use/use-steps.js";

const PEER = peerPath("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
if (!peersInstalled) console.log("the peers are not installed (npm run peers); no model saw server-everything");

/** What shows that a tool is in the form of a provider. */
const FORMS = [
  ["Anthropic", '"input_schema"'],
  ["OpenAI", '"strict": false'],
  ["OpenAI (strict)", '"strict": true'],
  ["Gemini", '"type": "OBJECT"'],
  ["MCP", '"inputSchema"'],
] as const;

const booking = new Server({ name: "booking", version: "1" }, { instructions: "Ask before you book." })
  .tool(
    "book",
    {
      description: "Books a seat in a train.",
      input: {
        type: "object",
        properties: {
          seat: { type: "string", minLength: 2, description: "Such as 12C" },
          day: { type: "string" },
        },
        required: ["seat", "day"],
      },
    },
    () => "booked",
  )
  .tool("grow", { description: "Adds a tool to this server." }, () => {
    booking.tool("grown", { description: "Was added while somebody looked." }, () => "");
    return "grown";
  });

describe.skipIf(!hasBrowser)("what models see", () => {
  let opened: InspectedPage;
  let page: Page;
  let served: Awaited<ReturnType<typeof serveHttp>>;

  beforeAll(async () => {
    served = await serveHttp(everything, { port: 0 });
    const peer = peersInstalled ? [programTarget(PEER, "stdio")] : [];
    const targets = [...targetsInBothEras(served.url), ...targetsInBothEras(booking), ...peer];
    // A token for each word, so that sums are easy to follow.
    opened = await openInspectedPage({ targets, loadTokenizer: async () => (text) => text.split(/\s+/).length });
    page = opened.page;
  });
  afterAll(async () => {
    await opened?.close();
    await served?.close();
  });

  const tools = () => page.getByRole("listbox", { name: "Tools as the model sees them" });
  const provider = (name: string) =>
    page.getByRole("tablist", { name: "Providers" }).getByRole("tab", { name, exact: true }).click();
  const given = () => page.getByRole("region", { name: "What the model gets" });
  const sent = () => page.getByRole("region", { name: "What the server sent" });
  const choose = (name: string) => tools().getByRole("option", { name }).click();
  const total = () => page.getByText(/^[\d,]+ tokens for \d+ tools in every request/).textContent();

  async function showModel(server: string, revision: (typeof ERAS)[number]): Promise<void> {
    await useServer(page, server, revision);
    await goTo(page, "Model");
    await tools().waitFor();
  }

  describe.each(ERAS)("in %s", (revision) => {
    it("is each tool in the form of each provider, beside what the server sent", async () => {
      await showModel("Everything", revision);
      for (const [name, words] of FORMS) {
        await provider(name);
        await choose("primes");
        await expect.poll(() => given().textContent()).toContain(words);
        await expect.poll(() => sent().textContent()).toContain('"below"');
        expect(await total()).toMatch(/^[1-9][\d,]* tokens for 18 tools/);
      }
    });

    it("is never what another provider gets, not even while it is read", async () => {
      await showModel("Everything", revision);
      const isListShown = await page
        .getByRole("tab", { name: "Gemini", exact: true })
        .evaluate(async (tab: HTMLElement) => {
          tab.click();
          // The page is drawn anew in a microtask; whatever comes with a later frame comes too late.
          for (let turn = 0; turn < 10; turn++) await null;
          return document.querySelector("[aria-label='Tools as the model sees them']") !== null;
        });
      expect(isListShown).toBe(false);
      await tools().waitFor();
    });

    it("costs the sum of its tools, and the instructions besides", async () => {
      await showModel("booking", revision);
      await provider("Anthropic");
      await expect.poll(() => tools().getByRole("option").count()).toBe(2);
      const rows = await tools().getByRole("option").allInnerTexts();
      const costs = rows.map((row) => Number(/^\d+$/m.exec(row)?.[0]));
      const sum = costs.reduce((all, cost) => all + cost, 0);
      await expect.poll(total).toContain(`${sum} tokens for 2 tools in every request, and 4 for the instructions`);
      expect(await total()).toContain("(counted with a tokenizer)");
      expect([...costs].sort((a, b) => b - a)).toEqual(costs);
    });

    it("lacks what a provider does not take, which is named and marked", async () => {
      await showModel("booking", revision);
      const lost = page.getByRole("heading", { name: "What the model does not see" }).locator("..");
      await provider("OpenAI (strict)");
      await choose("book");
      await lost.getByText("seat: minLength").waitFor();
      await tools().getByRole("option", { name: "book" }).getByText("1 dropped").waitFor();
      await page.getByText("OpenAI (strict) drops parts of 1 tool.").waitFor();
      await expect.poll(() => sent().textContent()).toMatch(/− +"minLength": 2/);
      expect(await given().textContent()).toMatch(/\+ +"additionalProperties": false/);
      await provider("MCP");
      await choose("book");
      await expect.poll(() => given().textContent()).toContain('"minLength": 2');
      expect(await lost.count()).toBe(0);
    });

    it("is judged by lint at the lines that it is about, with what to change", async () => {
      await showModel("booking", revision);
      await provider("MCP");
      await choose("book");
      const day = sent().getByText("⚠ the argument has no description (argument-description-missing)");
      await day.waitFor();
      expect(await day.locator("..").textContent()).toMatch(/^\s*"day": \{/);
      const tool = page.getByRole("region", { name: "Tool", exact: true });
      expect(await tool.textContent()).toMatch(/inputSchema\.properties\.day: .*Fix: ./);
    });

    it("is read again when the server changes its tools", async () => {
      await showModel("booking", revision);
      const count = () => tools().getByRole("option").count();
      await expect.poll(count).toBe(2);
      await useServer(page, "booking", revision);
      await runTool(page, "grow");
      await resultOf(page).getByText("grown").first().waitFor();
      await goTo(page, "Model");
      await tools().getByRole("option", { name: "grown" }).waitFor();
      await expect.poll(count).toBe(3);
      booking.remove("tool", "grown");
      await expect.poll(count).toBe(2);
    });
  });

  it.skipIf(!peersInstalled)("is the same for the tools of another implementation", async () => {
    await chooseConnection(page, "Everything Reference Server");
    await goTo(page, "Model");
    for (const [name, words] of FORMS) {
      await provider(name);
      await choose("get-sum");
      await expect.poll(() => given().textContent()).toContain(words);
    }
  });

  it("needed nothing from elsewhere, broke no rule of the page, and has no barrier", async () => {
    expect(await barriers(page)).toEqual([]);
    expect(strayRequests(opened)).toEqual([]);
    expect(opened.problems).toEqual([]);
  });
});
