import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ERAS } from "../engine/opened-engine.js";
import { payloadsFor } from "../hostile/payloads.js";
import { openWatchedPage, type WatchedPage } from "../hostile/watched-page.js";
import { hasBrowser } from "../kit/inspected-page.js";
import { goTo, timelineOf } from "../page/page-session.js";
import { questionOf, resultOf } from "./call-steps.js";
import { connectToUrl } from "./connect-steps.js";

/** The payloads by what they try, in their order. */
const PAYLOADS = [
  "a script",
  "a picture with a handler",
  "an attribute that ends early, and an SVG",
  "an attribute with a handler that focuses itself",
  "the end of a script, and another",
  "a frame with a document",
  "a style sheet from elsewhere",
  "a style that hides the page",
  "a link that is a script, with the id of the page",
  "a form that sends to elsewhere",
  "a refresh that navigates",
  "a base for all addresses",
  "a Markdown link that is a script",
  "a Markdown link to elsewhere",
  "a Markdown picture from elsewhere",
  "an address in Markdown",
  "a Markdown reference that is a script",
  "a Markdown picture that is an SVG with a script",
  "expressions of templates",
  "characters that turn, colour and hide text",
  "a word without end",
] as const;

describe.skipIf(!hasBrowser).each(ERAS)("a hostile server in %s", (revision) => {
  let watched: WatchedPage;
  let page: Page;

  beforeAll(async () => {
    watched = await openWatchedPage({}, { flood: 50 });
    page = watched.page;
    await connectToUrl(page, watched.hostile.url, { revision });
    await page.getByText(`ready · ${revision}`).first().waitFor();
  });
  afterAll(() => watched?.close());
  afterEach(() => watched.expectUnharmed());

  const offers = () => page.getByRole("listbox").getByRole("option");
  const detail = () => page.getByRole("tabpanel", { name: "Use" });

  /** Chooses an entry of a list by its place. */
  async function choose(kind: string, at: number): Promise<void> {
    await goTo(page, "Use");
    await page.getByRole("tab", { name: new RegExp(`^${kind}`) }).click();
    await page.getByRole("searchbox", { name: /^Search/ }).fill("");
    const list = page.getByRole("listbox", { name: /^List of/ });
    await list.getByRole("option").first().waitFor();
    await list.press("Home");
    for (let moved = 0; moved < at; moved++) await list.press("ArrowDown");
    await detail().getByRole("heading", { level: 2 }).first().waitFor();
  }

  /** Chooses a tool by its name, and gives the button that runs it. */
  async function chooseTool(name: string): Promise<Locator> {
    await goTo(page, "Use");
    await page.getByRole("tab", { name: /^Tools/ }).click();
    await page.getByRole("searchbox", { name: "Search tools" }).fill(name);
    await offers()
      .filter({ has: page.getByText(name, { exact: true }) })
      .first()
      .click();
    await detail().getByText(name, { exact: true }).last().waitFor();
    return detail().getByRole("button", { name: /^Run/ });
  }

  /** Waits until something shows a text; what is in it may be read, or drawn, after it is there. */
  const expectWords = (locator: Locator, words: string) => expect.poll(() => locator.textContent()).toContain(words);

  async function run(name: string): Promise<Locator> {
    await (await chooseTool(name)).click();
    await resultOf(page).waitFor();
    return resultOf(page);
  }

  it("is called what it calls itself, in the list and in the title", async () => {
    await expect.poll(() => page.title()).toContain('onerror="globalThis.hacked = true">');
    const connections = page.getByRole("navigation", { name: "Connections" });
    await expectWords(connections, '<img src="http://');
  });

  it("describes itself in the view of the server", async () => {
    await goTo(page, "Server");
    const instructions = page.getByRole("region", { name: "Instructions" });
    await expectWords(instructions, "<script>globalThis.hacked = true</script>");
    await expectWords(instructions, "\\u202etxt.exe\\u202c");
  });

  it("offers tools whose names are markup", async () => {
    await choose("Tools", 0);
    await page.getByRole("searchbox", { name: "Search tools" }).fill("<img src=");
    await offers().first().click();
    await expectWords(detail().getByRole("heading", { level: 2 }), "<img src=");
  });

  // What is shown of an offer does not depend on the era.
  const payloads = revision === ERAS[0] ? PAYLOADS.map((what, at) => [what, at] as const) : [];
  it.each(payloads)("has %s in all words of a tool", async (_what, at) => {
    await chooseTool(`evil_${at}`);
    const title = payloadsFor(new URL(watched.hostile.url).origin)[at]?.slice(0, 8) ?? "";
    const shown = await detail().getByRole("heading", { level: 2 }).textContent();
    expect(shown?.replaceAll(/\\u202e/g, "\u202e").slice(0, 8)).toBe(title);
    await detail().getByText("Definition as JSON").click();
  });

  it("answers with Markdown full of markup, whose links ask before they open", async () => {
    const result = await run("markdown");
    await expectWords(result, "external image, not loaded");
    await result.getByRole("button", { name: "a link" }).first().click();
    const asked = page.getByRole("dialog", { name: "Open this URL?" });
    await expectWords(asked, "/link");
    await asked.getByRole("button", { name: "Cancel" }).click();
    await result.getByRole("button", { name: "Text", exact: true }).click();
    await expectWords(result, "<script>");
    for (const link of await result.getByRole("button", { name: "a link" }).all()) {
      expect(await link.getAttribute("title")).toMatch(/^http:/);
    }
  });

  it("answers with pictures that are scripts", async () => {
    const result = await run("svg");
    await expectWords(result, "This image is not shown. The media type text/html is not supported.");
    await expectWords(result, "This audio is not shown.");
    // The SVG is a picture, in which nothing runs or loads.
    await expect.poll(() => result.locator("img[src^='data:image/svg+xml;base64,']").count()).toBe(2);
  });

  it("answers with links that are scripts, files and pages", async () => {
    const result = await run("links");
    await expectWords(result, "javascript:globalThis.hacked = true");
    await expectWords(result, "file:///etc/passwd");
    expect(await result.getByRole("link").count()).toBe(0);
  });

  it("reads a resource link that is a script only as a resource", async () => {
    const result = await run("links");
    await result.getByRole("button", { name: /^Read javascript:/ }).click();
    await page.getByRole("heading", { name: /^javascript:/ }).waitFor();
    await page.getByText("The server does not list this resource.").waitFor();
  });

  it("answers with structured content that would change what all objects have", async () => {
    const result = await run("structured");
    for (const form of ["Tree", "JSON", "Table"]) {
      const shown = result.getByRole("button", { name: form, exact: true });
      if ((await shown.count()) > 0) await shown.first().click();
    }
    expect(await page.evaluate("({}).polluted")).toBeUndefined();
  });

  it("reports an error full of markup", async () => {
    const result = await run("fails");
    await expectWords(result, "The tool reported an error");
  });

  it("answers with what is no result", async () => {
    const result = await run("wrong");
    await expectWords(result, "Failed");
  });

  it("answers with a text of five million characters", async () => {
    const result = await run("huge");
    await expectWords(result, "more characters");
    expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(3_000);
  });

  it("reports progress full of markup", async () => {
    await (await chooseTool("progress")).click();
    await page.getByRole("progressbar", { name: "Progress of progress" }).waitFor();
    await detail().getByText("1 of 2 <script>").waitFor();
    await watched.expectUnharmed();
    await detail().getByRole("button", { name: "Cancel" }).click();
    await resultOf(page).getByText("Cancelled", { exact: true }).waitFor();
  });

  it("asks with a form full of markup", async () => {
    await (await chooseTool("asks")).click();
    const question = questionOf(page);
    await question.getByText("<style>@import").first().waitFor();
    await watched.expectUnharmed();
    await question.getByRole("button", { name: "Decline" }).click();
    await resultOf(page).waitFor();
  });

  it("asks to visit an address that begins with the name of another, and is refused", async () => {
    await (await chooseTool("visits")).click();
    await resultOf(page).waitFor();
    expect(await questionOf(page).count()).toBe(0);
  });

  it("asks a model with messages and pictures that are scripts", async () => {
    await (await chooseTool("samples")).click();
    const question = questionOf(page);
    await question.getByRole("region", { name: "System prompt" }).waitFor();
    await watched.expectUnharmed();
    await question.getByRole("button", { name: "Decline" }).click();
    await resultOf(page).waitFor();
  });

  it("has resources whose contents are a page", async () => {
    await choose("Resources", 0);
    await detail().getByRole("button", { name: "Read", exact: true }).click();
    await expectWords(resultOf(page), "<script>");
  });

  it("has templates and prompts with markup in their arguments", async () => {
    await choose("Templates", 1);
    await choose("Prompts", 7);
    await expectWords(detail(), "<style>@import");
    await choose("Prompts", 0);
    const argument = detail().getByRole("combobox").first();
    await argument.fill("x");
    // Suggestions come a while after the text, and lie over the button.
    const suggested = page.getByRole("listbox", { name: /^Suggestions/ }).getByRole("option");
    await suggested.first().waitFor();
    await argument.press("Escape");
    await detail().getByRole("button", { name: /^Get/ }).click();
    await expectWords(resultOf(page), "</script>");
  });

  it("completes an argument with markup", async () => {
    await choose("Prompts", 0);
    await detail().getByRole("combobox").first().fill("y");
    await page
      .getByRole("listbox", { name: /^Suggestions/ })
      .getByRole("option", { name: /<script>/ })
      .waitFor();
  });

  it("refuses a request with an error full of markup", async () => {
    await goTo(page, "Use");
    await page.getByRole("tab", { name: "Request" }).click();
    await detail().getByLabel("Method").fill("evil/method");
    await detail().getByRole("button", { name: /^Send/ }).click();
    await expectWords(page.getByRole("note", { name: "Problem" }), "<script>");
  });

  it("logs messages full of markup, which the timeline shows", async () => {
    await run("flood");
    await goTo(page, "Timeline");
    await page.getByLabel("Method").selectOption("notifications/message");
    await timelineOf(page).press("Home");
    const message = page.getByRole("region", { name: "Message" });
    await expectWords(message, "</script>");
    await page.getByRole("button", { name: "Show all", exact: true }).click();
  });

  it.each(["Headers", "Waterfall", "Copy as"])("is harmless in the timeline under %s", async (tab) => {
    await goTo(page, "Timeline");
    await page.getByLabel("Kind").selectOption("result");
    await page.getByRole("searchbox", { name: "Filter by text" }).fill("tools/call");
    await timelineOf(page).getByRole("option").first().click();
    await page.getByRole("tab", { name: tab }).click();
    if (tab === "Headers") await page.getByRole("cell", { name: "<script>hacked = true</script>" }).waitFor();
    if (tab === "Copy as") {
      await page.getByRole("button", { name: "Copy as curl" }).click();
      await page.getByRole("region", { name: "curl" }).waitFor();
    }
  });

  it("is shown as models see it", async () => {
    await goTo(page, "Model");
    await page.getByRole("searchbox", { name: "Search tools" }).fill("evil_7");
    await offers().first().click();
    await expectWords(page.getByRole("region", { name: "What the model gets" }), "@import");
  });

  it("is compared in both eras", async () => {
    await goTo(page, "Eras");
    await page.getByRole("textbox", { name: "Tool" }).fill("fails");
    await page.getByRole("button", { name: "Call in both" }).click();
    await page.getByRole("button", { name: "Call twice" }).click();
    await page.getByRole("heading", { name: "Differences between the results" }).waitFor();
    await page
      .getByRole("list", { name: /^Response in/ })
      .getByRole("button")
      .first()
      .click();
  });
});
