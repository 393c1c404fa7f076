import { serveHttp } from "@parley/mcp/node";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { server as everything } from "../../../../examples/everything/server.js";
import { hasBrowser, type InspectedPage, openInspectedPage } from "../kit/inspected-page.js";
import { goByKeys } from "../page/page-session.js";
import { strayRequests } from "./call-steps.js";

/** Presses of Tab after which something that is looked for is not there. */
const MOST_STOPS = 80;

/** What has the focus: its name as it is read aloud, and whether it can be seen that it has it. */
function focused(): { readonly name: string; readonly isSeen: boolean } {
  const element = document.activeElement;
  if (element === null || element === document.body) return { name: "", isSeen: true };
  const labels = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement ? element.labels : null;
  const labelled = document.getElementById(element.getAttribute("aria-labelledby") ?? "")?.textContent;
  const name = element.getAttribute("aria-label") ?? labelled ?? labels?.[0]?.textContent ?? element.textContent;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const { width, height, top, bottom } = element.getBoundingClientRect();
  const isOutlined = outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2;
  return {
    name: (name ?? "").trim(),
    isSeen: isOutlined && width > 0 && height > 0 && bottom > 0 && top < innerHeight,
  };
}

describe.skipIf(!hasBrowser)("the keyboard alone", () => {
  let opened: InspectedPage;
  let page: Page;
  let served: Awaited<ReturnType<typeof serveHttp>>;

  beforeAll(async () => {
    served = await serveHttp(everything, { port: 0 });
    opened = await openInspectedPage({});
    page = opened.page;
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("textbox", { name: "URL" }).waitFor();
  });
  afterAll(async () => {
    await opened?.close();
    await served?.close();
  });

  /** Goes on by Tab until something has the focus, which is seen at every stop. */
  async function tabTo(name: string | RegExp, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
    const stops: string[] = [];
    while (stops.length < MOST_STOPS) {
      await page.keyboard.press(key);
      const now = await page.evaluate(focused);
      expect(now).toEqual({ name: now.name, isSeen: true });
      if (typeof name === "string" ? now.name === name : name.test(now.name)) return;
      stops.push(now.name);
    }
    expect.fail(`Tab does not come to ${name}, but to ${stops.join(" | ")}`);
  }

  const focusedName = async () => (await page.evaluate(focused)).name;

  async function press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await page.keyboard.press(key);
  }

  it("connects to a server", async () => {
    await tabTo("URL");
    await page.keyboard.type(served.url);
    await press("Enter");
    await page
      .getByText(/^ready/)
      .first()
      .waitFor();
  });

  it("finds a tool", async () => {
    await goByKeys(page, "u");
    await page.getByText(/^\d+ tools$/).waitFor();
    await press("/");
    await page.keyboard.type("ask");
    await tabTo("List of tools");
    await press("Home", "Enter");
    await page.getByRole("heading", { level: 2, name: "ask" }).waitFor();
  });

  it.each(["ArrowDown", "Enter"])("goes from the search to what it found by %s, and on from there", async (key) => {
    await press("/", "Escape");
    await page.keyboard.type("e");
    await press(key);
    const chosen = page.getByRole("listbox", { name: "List of tools" }).getByRole("option", { selected: true });
    await expect.poll(() => chosen.getAttribute("aria-posinset")).toBe("1");
    await expect.poll(focusedName).toBe("List of tools");
    await press("ArrowDown");
    await expect.poll(() => chosen.getAttribute("aria-posinset")).toBe("2");
    await press("/", "Escape");
    await page.keyboard.type("ask");
    await press(key);
    await page.getByRole("heading", { level: 2, name: "ask" }).waitFor();
  });

  it("fills its form, runs it, and answers its question", async () => {
    await tabTo("question");
    await page.keyboard.type("Is it raining?");
    await press("Control+Enter");
    await page.getByRole("dialog", { name: "Everything asks a model" }).waitFor();
    await tabTo("text");
    await page.keyboard.type("yes, again");
    await tabTo("Send");
    await press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const result = page.getByRole("region", { name: "Result of the call" });
    await result.getByText("yes, again").waitFor();
    // What was run has the focus still, and the result follows it.
    await expect.poll(focusedName).toBe("question");
    await tabTo("Result");
  });

  it("opens the timeline, reads an entry, and copies it", async () => {
    await goByKeys(page, "t");
    await press("/");
    await page.keyboard.type("tools/call");
    await tabTo("Timeline");
    await press("Home");
    const message = page.getByRole("region", { name: "Message" });
    await expect.poll(() => message.textContent()).toContain('"jsonrpc"');
    await tabTo(/^Message/);
    await press("ArrowRight", "ArrowRight", "ArrowRight");
    await expect.poll(focusedName).toBe("Copy as");
    await tabTo("Copy as curl");
    await press("Enter");
    await page.getByText(/^Copied to the clipboard/).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^curl /);
  });

  it("closes what it opened, and is told of all keys", async () => {
    await tabTo("Close entry", "Shift+Tab");
    await press("Enter");
    await page.getByRole("region", { name: "Entry" }).waitFor({ state: "detached" });
    await expect.poll(focusedName).toBe("Timeline");
    await press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  it("needs nothing from anywhere else, also after a reload", async () => {
    const { origin } = new URL(opened.inspector.url);
    await page.context().route(
      (url) => url.origin !== origin,
      (route) => route.abort(),
    );
    await page.reload();
    // Keys are heard from then on.
    await page
      .getByText(/^ready/)
      .first()
      .waitFor();
    for (const [key, words] of [
      ["s", "Capabilities"],
      ["u", "Search tools"],
      ["t", "Filter by text"],
      ["m", "Search tools"],
      ["e", "Arguments (JSON)"],
      ["k", "Record"],
    ] as const) {
      await goByKeys(page, key);
      await page.getByText(words).or(page.getByPlaceholder(words)).first().waitFor();
    }
    expect(strayRequests(opened)).toEqual([]);
    expect(opened.problems).toEqual([]);
  });

  it("moves nothing where the reader wants no motion", async () => {
    await page.emulateMedia({ reducedMotion: "reduce" });
    await goByKeys(page, "u");
    await page.getByText(/^\d+ tools$/).waitFor();
    const moving = () =>
      [...document.querySelectorAll("*")].filter((element) => {
        const { animationName, transitionDuration, scrollBehavior } = getComputedStyle(element);
        return animationName !== "none" || transitionDuration !== "0s" || scrollBehavior === "smooth";
      }).length;
    expect(await page.evaluate(moving)).toBe(0);
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
  });
});
