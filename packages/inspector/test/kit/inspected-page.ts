import type { BrowserContext, Page } from "playwright-core";
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

/** Starts an inspector, and opens its page in a browser of its own. */
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

/** Opens the page at the address of an inspector, in a browser of its own. */
export async function openPageAt(url: string, more: Omit<PageOptions, "inspector"> = {}): Promise<OpenedPage> {
  const browser = await launchBrowser();
  const { colorScheme = "light", viewport = { width: 1280, height: 800 } } = more;
  const context = await browser.newContext({ colorScheme, viewport, acceptDownloads: true });
  const [requests, problems] = watch(context);
  const page = await context.newPage();
  await page.goto(url, { waitUntil: "load" });
  return { page, requests, problems, close: () => browser.close() };
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
