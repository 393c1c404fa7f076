import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { peerPath } from "../../../../mcp/test/interop/peer-process.js";
import { peersInstalled } from "../../../../mcp/test/mounts/peer-packages.js";
import { programTarget } from "../../engine/opened-engine.js";
import { hasBrowser, type InspectedPage, openInspectedPage } from "../../kit/inspected-page.js";
import { goTo } from "../../page/page-session.js";
import { questionOf, resultOf, runTool, strayRequests } from "../call-steps.js";
import { chooseEntry, choosePart, shownRows } from "../see/timeline-steps.js";

if (!peersInstalled) console.log("the peers are not installed (npm run peers); server-everything asked nothing");

const SERVER = peerPath("node_modules/@modelcontextprotocol/server-everything/dist/index.js");

describe.skipIf(!hasBrowser || !peersInstalled)("questions of server-everything, over stdio", () => {
  let opened: InspectedPage;
  let page: Page;
  beforeAll(async () => {
    opened = await openInspectedPage({ targets: [programTarget(SERVER, "stdio")] });
    page = opened.page;
  });
  afterAll(() => opened?.close());

  const question = () => questionOf(page);
  const button = (name: string) => question().getByRole("button", { name, exact: true });
  const resultText = async () => (await resultOf(page).textContent()) ?? "";
  const group = (name: string) => question().getByRole("group", { name });

  it("are a form with every kind of field", async () => {
    await runTool(page, "trigger-elicitation-request");
    const field = (name: RegExp) => question().getByRole("textbox", { name });
    await field(/^String name/).fill("Ada Lovelace");
    await question().getByRole("checkbox", { name: "Boolean check" }).check();
    expect(await field(/firstLine/).inputValue()).toBe("It was a dark and stormy night.");
    await field(/email format/).fill("ada@example.com");
    await field(/uri format/).fill("https://example.com/ada");
    await question().getByLabel("String with date format").fill("1815-12-10");
    await field(/^Integer/).fill("7");
    await question()
      .getByRole("combobox", { name: /^Untitled Single/ })
      .selectOption("Joey");
    await question()
      .getByRole("combobox", { name: /^Titled Single/ })
      .selectOption("Wonder Woman");
    await question()
      .getByRole("combobox", { name: /^Legacy/ })
      .selectOption("Birds");
    await group("Untitled Multiple Select Enum").getByRole("checkbox", { name: "Bass" }).check();
    await group("Titled Multiple Select Enum titled").getByRole("checkbox", { name: "Trout" }).check();
    await button("Accept").click();
    await expect.poll(resultText).toContain("User provided the requested information");
    const raw = /Raw result: (\{[\s\S]*?\n\})/.exec(await resultText())?.[1];
    expect(JSON.parse(raw ?? "null")).toEqual({
      action: "accept",
      content: {
        name: "Ada Lovelace",
        check: true,
        firstLine: "It was a dark and stormy night.",
        email: "ada@example.com",
        homepage: "https://example.com/ada",
        birthdate: "1815-12-10",
        integer: 7,
        number: 3.14,
        untitledSingleSelectEnum: "Joey",
        untitledMultipleSelectEnum: ["Guitar", "Bass"],
        titledSingleSelectEnum: "hero-3",
        titledMultipleSelectEnum: ["fish-1", "fish-3"],
        legacyTitledEnum: "pet-3",
      },
    });
  });

  it("are declined and cancelled", async () => {
    for (const [name, told] of [
      ["Decline", "User declined"],
      ["Cancel", "User cancelled"],
    ] as const) {
      await runTool(page, "trigger-elicitation-request");
      await button(name).click();
      await expect.poll(resultText).toContain(told);
    }
  });

  it("name a page to visit", async () => {
    await runTool(page, "trigger-url-elicitation", { url: "https://example.com/visit" });
    await question().getByText("https://example.com/visit").waitFor();
    await button("Accept").click();
    await expect.poll(resultText).toContain("User completed the URL elicitation flow");
  });

  it("to a model are answered by hand", async () => {
    await runTool(page, "trigger-sampling-request", { prompt: "a riddle" });
    await question().getByText("Resource trigger-sampling-request context: a riddle").waitFor();
    expect(await button("Let the command draft an answer").count()).toBe(0);
    await question().getByRole("textbox", { name: "text", exact: true }).fill("a fine answer");
    await button("Send").click();
    await expect.poll(resultText).toContain('"text": "a fine answer"');
  });

  it("about roots are answered with those of the page, and changes reach it", async () => {
    await goTo(page, "Server");
    await page.getByRole("button", { name: "Add root" }).click();
    for (const name of ["first", "second"]) {
      await page.getByLabel("URI of root 1").fill(`file:///tmp/${name}`);
      await page.getByLabel("Name of root 1").fill(name);
      await page.getByRole("button", { name: "Save roots" }).click();
      // The server asks for the roots when it hears of the change, and answers calls with those that it has.
      await expect
        .poll(
          async () => {
            await runTool(page, "get-roots-list");
            await resultOf(page).getByText("Done").waitFor();
            return resultText();
          },
          { timeout: 20_000 },
        )
        .toContain(`file:///tmp/${name}`);
      await goTo(page, "Server");
    }
  });

  it("are in the timeline with the calls that they belong to", async () => {
    await goTo(page, "Timeline");
    await page.getByLabel("Method").selectOption("elicitation/create");
    const entry = await chooseEntry(page, /received.*request.*elicitation\/create/);
    await entry.getByRole("button", { name: "Go to response" }).click();
    await entry.getByText(/result, sent · \d+ B · answered in/).waitFor();
    await choosePart(page, "Headers");
    await entry.getByText("No HTTP exchange: this entry went").waitFor();
    await choosePart(page, "Waterfall");
    const call = entry.getByRole("table", { name: "This call" });
    await call.getByRole("row", { name: /^tools\/call trigger-url-elicitation request/ }).waitFor();
    await call.getByRole("row", { name: /^elicitation\/create from the server/ }).waitFor();
    await entry.getByRole("button", { name: "Only this call" }).click();
    // The client may list the tools first, where they have changed.
    const rows = async () =>
      (await shownRows(page)).map(({ text }) => text).filter((text) => !text.includes("tools/list"));
    await expect
      .poll(rows)
      .toEqual([
        "→ sent request tools/call trigger-url-elicitation",
        "← received request elicitation/create",
        "→ sent result elicitation/create",
        "← received result tools/call trigger-url-elicitation",
      ]);
  });

  it("leave no error in the page, and no request to anywhere else", () => {
    expect(opened.problems).toEqual([]);
    expect(strayRequests(opened)).toEqual([]);
  });
});
