import { Server } from "@parley/mcp";
import { type CreateMessageRequestParams, type CreateMessageResult, shownRevision } from "@parley/mcp/protocol";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { server as everything } from "../../../../../examples/everything/server.js";
import { ERAS, serverTarget } from "../../engine/opened-engine.js";
import { hasBrowser, type InspectedPage, openInspectedPage } from "../../kit/inspected-page.js";
import { goTo, timelineOf, urlTarget } from "../../page/page-session.js";
import { chooseConnection, questionOf, resultOf, runTool, strayRequests } from "../call-steps.js";
import { type AskingServer, startAskingServer } from "./asking-server.js";

/** Addresses that no page has, or that deceive. */
const NO_PAGES = [
  "javascript:globalThis.hacked = true",
  "data:text/html,<script>opener.hacked = true</script>",
  "file:///etc/passwd",
  "https://example.com@evil.example/",
  "no address",
];
const VISITED = "https://example.com/pay";

/** A tool that asks twice at once, and one that asks for a text. */
const pair = () =>
  new Server({ name: "pair", version: "1" }).tool("both", {}, async (_args, c) => {
    const field = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } } }) as const;
    const [left, right] = await Promise.all([
      c.tryElicit("What is left?", field("left")),
      c.tryElicit("What is right?", field("right")),
    ]);
    return JSON.stringify([left, right]);
  });

/** The command that the terminal configured: it answers with what it was asked, fails, or goes on until it is ended. */
async function model({ messages }: CreateMessageRequestParams, signal: AbortSignal): Promise<CreateMessageResult> {
  const [message] = messages;
  const block = Array.isArray(message?.content) ? message.content[0] : message?.content;
  const text = block?.type === "text" ? block.text : "";
  if (text === "fail") throw new Error("no model today");
  if (text === "think") await new Promise((_, reject) => signal.addEventListener("abort", reject));
  return { model: "a command", role: "assistant", content: { type: "text", text: `drafted for ${text}` } };
}

describe.skipIf(!hasBrowser).each(ERAS)("questions of a server, in %s", (revision) => {
  const isStateless = shownRevision(revision).era === "stateless";
  let opened: InspectedPage;
  let page: Page;
  let asking: AskingServer;
  beforeAll(async () => {
    asking = await startAskingServer();
    const targets = [serverTarget(everything), serverTarget(pair()), urlTarget(asking.url)];
    opened = await openInspectedPage({ targets, revision, model });
    page = opened.page;
    // The only page that a test opens outside; nothing leaves this machine.
    await page.context().route(`${VISITED}**`, (route) => route.fulfill({ body: "<title>paid</title>" }));
  }, 60_000);
  afterAll(async () => {
    await opened?.close();
    await asking?.close();
  });

  const question = () => questionOf(page);
  const button = (name: string) => question().getByRole("button", { name, exact: true });
  /** A control of the form; names of fields are exact, because buttons beside them have longer ones. */
  const field = (name: string, role: "textbox" | "checkbox" | "combobox" = "textbox") =>
    question().getByRole(role, { name, exact: true });
  const resultText = async () => (await resultOf(page).textContent()) ?? "";
  const over = () => question().waitFor({ state: "detached" });

  it("are forms with a field for each kind, and say at a field why an answer is refused", async () => {
    await chooseConnection(page, "Everything");
    await runTool(page, "order");
    await question().getByText("What may it be?").waitFor();
    expect(await question().textContent()).toContain("during tool order");
    expect(await field("name").inputValue()).toBe("Ada");
    await field("mail").fill("nobody");
    await field("amount").fill("12");
    await field("express", "checkbox").check();
    await button("Accept").click();
    await question().getByRole("note", { name: "Problem" }).waitFor();
    for (const [name, words, role] of [
      ["mail", "email", "textbox"],
      ["amount", "9", "textbox"],
      ["size", "Required", "combobox"],
      ["colour", "Required", "combobox"],
    ] as const) {
      expect(await field(name, role).getAttribute("aria-invalid"), name).toBe("true");
      const about = await field(name, role).getAttribute("aria-describedby");
      expect(await page.locator(`[id="${about}"]`).textContent(), name).toContain(words);
    }
    expect(await field("name").getAttribute("aria-invalid")).not.toBe("true");
    // The first field that was refused has the focus.
    await expect.poll(() => field("mail").evaluate((input) => input === document.activeElement)).toBe(true);
    await page.keyboard.press("Control+A");
    await page.keyboard.type("ada@example.com");
    await field("amount").fill("2");
    await field("size", "combobox").selectOption("large");
    await field("colour", "combobox").selectOption("Green");
    await question().getByRole("group", { name: "extras" }).getByRole("checkbox", { name: "bow" }).check();
    await button("Accept").click();
    await over();
    await resultOf(page).getByText("Done").waitFor();
    await resultOf(page).getByRole("tab", { name: "JSON" }).click();
    const { structuredContent } = JSON.parse((await resultOf(page).locator("pre").textContent()) ?? "");
    expect(structuredContent).toEqual({
      name: "Ada",
      mail: "ada@example.com",
      amount: 2,
      express: true,
      size: "large",
      colour: "g",
      extras: ["bow"],
    });
  });

  it("are declined and cancelled, and the server is told which", async () => {
    for (const [name, told] of [
      ["Decline", "decline"],
      ["Cancel", "cancel"],
    ] as const) {
      await runTool(page, "survey");
      await button(name).click();
      await over();
      await resultOf(page).getByText(`no answer (${told})`).waitFor();
    }
  });

  it("are put aside by Escape, keep what was typed, and are answered later", async () => {
    await runTool(page, "survey");
    await field("stars").fill("4");
    await page.keyboard.press("Escape");
    await over();
    await page.getByRole("banner").getByText("1 question is waiting").waitFor();
    await expect.poll(() => page.title()).toMatch(/^\(1\)/);
    await page.getByRole("button", { name: "1 question is waiting" }).click();
    expect(await field("stars").inputValue()).toBe("4");
    await question().getByRole("tab", { name: "JSON" }).click();
    expect(await question().getByLabel("The whole value as JSON").inputValue()).toBe('{\n  "stars": 4\n}');
    await question().getByLabel("The whole value as JSON").fill('{ "stars": 5 }');
    await page.keyboard.press("Control+Enter");
    await over();
    await resultOf(page).getByText("5 stars").waitFor();
  });

  it("go with the call that is cancelled, and are not answered for the user", async () => {
    await runTool(page, "survey");
    await question().getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "1 question is waiting" }).waitFor();
    await page
      .getByRole("tabpanel", { name: /^Tools/ })
      .getByRole("button", { name: "Cancel" })
      .click();
    await page.getByRole("button", { name: "1 question is waiting" }).waitFor({ state: "detached" });
    await resultOf(page).getByText("Cancelled", { exact: true }).waitFor();
  });

  it("follow one another in the course of one call", async () => {
    await runTool(page, "buy");
    await field("name").fill("Grace");
    await button("Accept").click();
    await question().getByText("Really for Grace?").waitFor();
    await field("sure", "checkbox").check();
    await button("Accept").click();
    await resultOf(page)
      .getByText(/^receipt \d+ for Grace$/)
      .waitFor();
  });

  it("name a page whose address is shown before it is opened, in a tab that learns nothing", async () => {
    await runTool(page, "pay");
    await question().getByText("Pay here").waitFor();
    await question().getByText(VISITED).waitFor();
    expect(strayRequests(opened)).toEqual([]);
    const [tab] = await Promise.all([page.context().waitForEvent("page"), button("Open in a new tab").click()]);
    await tab.waitForURL(VISITED);
    expect([tab.url(), await tab.title()]).toEqual([VISITED, "paid"]);
    expect(await tab.evaluate(() => [window.opener, document.referrer])).toEqual([null, ""]);
    await tab.close();
    await button("Accept").click();
    await resultOf(page).getByText("paid").waitFor();
    expect(new Set(strayRequests(opened))).toEqual(new Set([VISITED]));
  });

  it("may demand a page before a call goes on", async () => {
    const address = "https://example.com/sign-in";
    await runTool(page, "secret");
    if (isStateless) {
      await question().getByText(address).waitFor();
      await button("Accept").click();
    } else {
      // An error in this era: the page is visited, and the tool is called once more.
      const pages = resultOf(page).getByRole("list", { name: "Pages to visit first" });
      await pages.getByText("Sign in").waitFor();
      await pages.getByRole("button", { name: address }).click();
      const dialog = page.getByRole("dialog", { name: "Open this URL?" });
      await dialog.getByText(address).waitFor();
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await runTool(page, "secret");
    }
    await over();
    await resultOf(page).getByText("the secret").waitFor();
  });

  it("open no address that is none of the web", async () => {
    await chooseConnection(page, "asking");
    const tabs = page.context().pages().length;
    const ended = page.getByRole("region", { name: "Call history" }).getByText(/^(?:failed|done)/);
    for (const [index, url] of NO_PAGES.entries()) {
      const answered = asking.answers.length;
      await runTool(page, "visit", { url });
      await expect.poll(() => ended.count(), { message: url }).toBe(index + 1);
      expect(await resultText(), url).toContain("https address");
      expect(await question().count(), url).toBe(0);
      expect(JSON.stringify(asking.answers.slice(answered)), url).not.toContain("accept");
    }
    expect(page.context().pages()).toHaveLength(tabs);
    expect(await page.evaluate("globalThis.hacked")).toBeUndefined();
    await runTool(page, "visit", { url: "https://example.com/fine" });
    await question().getByText("https://example.com/fine").waitFor();
    await button("Accept").click();
    await resultOf(page).getByText('answered: {"action":"accept"}').waitFor();
  });

  it("may be several at once, each with its own answer", async () => {
    await chooseConnection(page, "pair");
    await runTool(page, "both");
    const waiting = question().getByRole("list", { name: "Waiting questions" }).getByRole("button");
    await expect.poll(() => waiting.count()).toBe(2);
    await field("left").fill("a hand");
    await waiting.filter({ hasText: "2. Form from pair: What is right?" }).click();
    await field("right").fill("a foot");
    await waiting.filter({ hasText: "1. Form from pair: What is left?" }).click();
    expect(await field("left").inputValue()).toBe("a hand");
    await button("Decline").click();
    await expect.poll(() => field("right").inputValue()).toBe("a foot");
    await button("Accept").click();
    await over();
    await resultOf(page).getByRole("button", { name: "Text" }).click();
    await expect.poll(resultText).toContain('[{"action":"decline"},{"action":"accept","content":{"right":"a foot"}}]');
  });

  it("to a model are answered by hand, or declined", async () => {
    await chooseConnection(page, "Everything");
    await runTool(page, "ask", { question: "Why <b>now</b>?" });
    await question().getByText("Why <b>now</b>?").waitFor();
    await question().getByRole("region", { name: "System prompt" }).getByText("Answer in one word.").waitFor();
    await question().getByText("maxTokens:").waitFor();
    await field("text").fill("Because.");
    await button("Send").click();
    await over();
    await resultOf(page).getByText("Because.").waitFor();
    await runTool(page, "ask", { question: "Again?" });
    await button("Decline").click();
    await over();
    await resultOf(page)
      .getByText(/declined/)
      .first()
      .waitFor();
  });

  it("to a model are drafted by the configured command, and sent as the user changed it", async () => {
    await runTool(page, "ask", { question: "the sky" });
    await button("Let the command draft an answer").click();
    await question().getByText("drafted by the command").waitFor();
    const text = field("text");
    await expect.poll(() => text.inputValue()).toBe("drafted for the sky");
    await text.fill("drafted for the sky, and changed");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "1 question is waiting" }).click();
    expect(await text.inputValue()).toBe("drafted for the sky, and changed");
    await button("Send").click();
    await resultOf(page).getByText("drafted for the sky, and changed").waitFor();
    await runTool(page, "ask", { question: "fail" });
    await button("Let the command draft an answer").click();
    await question().getByText("The command failed.").waitFor();
    await text.fill("by hand");
    await button("Send").click();
    await resultOf(page).getByText("by hand").waitFor();
  });

  it("to a model are answered by hand also while the command runs", async () => {
    await runTool(page, "ask", { question: "think" });
    await button("Let the command draft an answer").click();
    await button("The command is running…").waitFor();
    await field("text").fill("sooner than that");
    await button("Send").click();
    await over();
    await resultOf(page).getByText("sooner than that").waitFor();
  });

  it("about roots are answered with those that the user wrote", async () => {
    await goTo(page, "Server");
    for (const [at, uri, name] of [
      [1, "file:///tmp/one", "one"],
      [2, "file:///tmp/two", ""],
    ] as const) {
      await page.getByRole("button", { name: "Add root" }).click();
      await page.getByLabel(`URI of root ${at}`).fill(uri);
      await page.getByLabel(`Name of root ${at}`).fill(name);
    }
    const set = page.getByRole("button", { name: "Save roots" });
    await set.click();
    await expect.poll(() => page.getByRole("status").allTextContents()).toContain("Roots saved");
    await runTool(page, "folders");
    await expect.poll(resultText).toContain("file:///tmp/one\nfile:///tmp/two");
    await goTo(page, "Server");
    await page.getByRole("button", { name: "Remove root 1" }).click();
    await set.click();
    // It can be pressed again when the inspector has answered.
    await expect.poll(() => set.isEnabled()).toBe(true);
    await runTool(page, "folders");
    await expect.poll(resultText).not.toContain("file:///tmp/one");
    expect(await resultText()).toContain("file:///tmp/two");
    await goTo(page, "Timeline");
    const asked = timelineOf(page).getByRole("option", { name: /roots\/list|input_required|tools\/call.*folders/ });
    await expect.poll(() => asked.count()).toBeGreaterThan(0);
  });

  it("leave nothing behind: no error in the page, and no request to anywhere else", () => {
    expect(opened.problems).toEqual([]);
    expect(new Set(strayRequests(opened))).toEqual(new Set([VISITED]));
  });
});
