import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll } from "vitest";
import type { Inspector, InspectorOptions } from "../../src/inspector-options.js";
import { openInspector } from "../../src/open-inspector.js";
import { hasBrowser, launchBrowser } from "./browser.js";
import { builtPage } from "./built-page.js";

export { hasBrowser };

/** A page of an inspector in a real browser. */
export interface OpenedPage {
  readonly page: Page;
  /** The addresses of everything that the browser asked for. */
  readonly requests: string[];
  /** Errors of the console and of scripts, and violations of the content security policy. */
  readonly problems: string[];
  close(): Promise<void>;
}

/** The page of an inspector of this process. */
export interface InspectedPage extends OpenedPage {
  readonly inspector: Inspector;
}

/** How the browser is set up. */
export interface PageOptions {
  readonly colorScheme?: "dark" | "light";
  readonly viewport?: { readonly width: number; readonly height: number };
  /** An inspector that runs already, in place of one of its own; it is left running. */
  readonly inspector?: Inspector;
}

/** One browser for all pages of a test file, because to start one takes longer than most tests. */
let launched: Promise<Browser> | undefined;
afterAll(async () => (await launched)?.close());

/** What does not come within this time, on a machine with far too much to do, does not come. */
const LONGEST_WAIT_MS = 60_000;

/** Starts an inspector, and opens its page as a user who has never been there. */
export async function openInspectedPage(options: InspectorOptions, more: PageOptions = {}): Promise<InspectedPage> {
  const inspector = more.inspector ?? (await openInspector(options, await builtPage()));
  const opened = await openPageAt(inspector.url, more);
  return {
    ...opened,
    inspector,
    close: async () => {
      await opened.close();
      if (more.inspector === undefined) await inspector.close();
    },
  };
}

/** Opens the page at the address of an inspector, as a user who has never been there. */
export async function openPageAt(url: string, more: Omit<PageOptions, "inspector"> = {}): Promise<OpenedPage> {
  launched ??= launchBrowser();
  const browser = await launched;
  const { colorScheme = "light", viewport = { width: 1280, height: 800 } } = more;
  const context = await browser.newContext({ colorScheme, viewport, acceptDownloads: true });
  context.setDefaultTimeout(LONGEST_WAIT_MS);
  const [requests, problems] = watch(context);
  const page = await context.newPage();
  await page.goto(url, { waitUntil: "load" });
  return { page, requests, problems, close: () => context.close() };
}

/** Notes what pages of a context ask for, and what goes wrong in them. A violation of the policy is an error of the console. */
function watch(context: BrowserContext): [requests: string[], problems: string[]] {
  const requests: string[] = [];
  const problems: string[] = [];
  context.on("request", (request) => requests.push(request.url()));
  context.on("weberror", (error) => problems.push(`error: ${error.error().message}`));
  context.on("console", (message) => {
    if (message.type() === "error") problems.push(`console: ${message.text()}`);
  });
  return [requests, problems];
}
