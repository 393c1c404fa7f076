import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { InspectorOptions } from "../../src/inspector-options.js";
import { type InspectedPage, openInspectedPage } from "../kit/inspected-page.js";
import { type HostileServer, startHostileServer } from "./hostile-server.js";

/** The page of an inspector that a hostile server has written into, with somebody who looks for harm. */
export interface WatchedPage extends InspectedPage {
  readonly hostile: HostileServer;
  /** Dialogs, tabs, navigations and downloads, which nobody may cause but the user: whoever does takes them out. */
  readonly events: string[];
  /**
   * Fails where anything of the server ran, loaded, opened, navigated, hid itself or broke the page. With an app, whose frames and
   * refusals are its own, the frames of the sandbox are left out.
   */
  expectUnharmed(shown?: { readonly app: boolean }): Promise<void>;
}

/** Opens it. The server is offered by its address alone: `connectToUrl` connects. */
export async function openWatchedPage(options: InspectorOptions = {}, server = {}): Promise<WatchedPage> {
  const hostile = await startHostileServer(server);
  const opened = await openInspectedPage(options);
  const { page, inspector, requests, problems } = opened;
  const { origin } = new URL(inspector.url);
  const events: string[] = [];
  const framed: string[] = [];
  page.on("dialog", (dialog) => {
    events.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.context().on("page", (tab) => events.push(`tab: ${tab.url()}`));
  page.on("framenavigated", (frame) => {
    // The page writes its own view behind the `#`.
    const isOwn = frame === page.mainFrame() && new URL(frame.url()).origin === origin;
    if (!isOwn) (frame === page.mainFrame() ? events : framed).push(`navigation: ${frame.url()}`);
  });
  page.on("download", (download) => events.push(`download: ${download.suggestedFilename()}`));
  await page.getByRole("tab", { name: "Timeline" }).waitFor();
  const outline = await outlineOf(page);
  return {
    ...opened,
    hostile,
    events,
    close: async () => {
      await opened.close();
      await hostile.close();
    },
    expectUnharmed: async ({ app } = { app: false }) => {
      for (const frame of page.frames()) expect(await frame.evaluate("globalThis.hacked")).toBeUndefined();
      expect(events).toEqual([]);
      expect(hostile.arrivals).toEqual([]);
      const strays = requests.filter((url) => !url.startsWith(`${origin}/`));
      if (!app) expect({ framed, problems, strays }).toEqual({ framed: [], problems: [], strays: [] });
      expect(new URL(page.url()).origin).toBe(origin);
      expect(await page.title()).toMatch(/Parley inspector$/);
      expect(await outlineOf(page)).toEqual(outline);
      expect(await page.evaluate(hiddenIn, HIDDEN)).toEqual([]);
      expect(await page.evaluate(markupIn)).toEqual([]);
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(wider).toBeLessThanOrEqual(0);
    },
  };
}

/** What the document has of scripts, styles and the like, and whether the frame of the page is seen. */
function outlineOf(page: Page): Promise<object> {
  return page.evaluate(() => ({
    head: [...document.querySelectorAll("head > :not(title), script, style, link, base, meta")].map(
      ({ outerHTML }) => outerHTML,
    ),
    roots: document.querySelectorAll("#inspector").length,
    isSeen: document.querySelector(".app-header")?.checkVisibility() === true,
  }));
}

/** Characters that turn, hide or control what stands around them. */
const HIDDEN =
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200b\\u202a-\\u202e\\u2066-\\u2069\\u{e0000}-\\u{e0fff}]";

/** Texts that have such characters, those in fields excepted: they are sent as they are. */
function hiddenIn(characters: string): string[] {
  const hidden = new RegExp(characters, "u");
  const found: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const texts =
      node instanceof Element
        ? ["title", "aria-label", "alt", "placeholder"].map((name) => (node as Element).getAttribute(name) ?? "")
        : [node.textContent ?? ""];
    found.push(...texts.filter((text) => hidden.test(text)).map((text) => text.slice(0, 100)));
  }
  return found;
}

/** Elements and attributes that the page itself never has. */
function markupIn(): string[] {
  const found = [
    ...document.body.querySelectorAll("iframe:not(.use-app iframe), object, embed, form[action], a, video, base"),
  ];
  const handlers = [...document.body.querySelectorAll("*")].filter(({ attributes }) =>
    [...attributes].some(
      ({ name, value }) => /^on|^srcdoc$|^formaction$/i.test(name) || /^\s*javascript:/i.test(value),
    ),
  );
  const loading = [...document.body.querySelectorAll(":not(.use-app iframe):is([src], [href])")].filter(
    (element) => !/^(?:data|blob):/.test(element.getAttribute("src") ?? element.getAttribute("href") ?? ""),
  );
  return [...found, ...handlers, ...loading].map(({ outerHTML }) => outerHTML.slice(0, 200));
}
