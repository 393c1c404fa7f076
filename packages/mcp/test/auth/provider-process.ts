import type { Browser, Page } from "playwright-core";
import { hasChromium, launchChromium } from "../browser/chromium.js";
import { startPeer } from "../interop/peer-process.js";
import { peersInstalled } from "../mounts/peer-packages.js";

/** Whether a real authorization server and a real browser are there; says what is missing. */
export const canLogIn = peersInstalled && hasChromium;
if (!canLogIn) {
  const missing = peersInstalled ? "Chromium (scripts/system-packages.sh)" : "the peers (npm run peers)";
  console.log(`login: without ${missing} nothing was tried with a real authorization server`);
}

/** What the authorization server says that it did. */
export interface ProviderEvent {
  readonly name: string;
  readonly grant?: string;
  readonly scope?: string;
  readonly error?: string;
}

/** A running `oidc-provider`. */
export interface Provider {
  readonly issuer: string;
  events(name: string): Promise<ProviderEvent[]>;
  stop(): Promise<void>;
}

/** Starts the authorization server. */
export async function startProvider(options: Readonly<Record<string, unknown>> = {}): Promise<Provider> {
  const { url, stop } = await startPeer("programs/oidc-provider.mjs", [JSON.stringify(options)]);
  const issuer = new URL(url).origin;
  return {
    issuer,
    stop,
    async events(name) {
      // The program writes them in this form.
      const all = (await (await fetch(`${issuer}/events`)).json()) as ProviderEvent[];
      return all.filter((event) => event.name === name);
    },
  };
}

export function startBrowser(): Promise<Browser> {
  return launchChromium();
}

/** A page of a user who has never been here. It reaches nothing beyond this machine. */
export async function newUser(browser: Browser): Promise<Page> {
  const context = await browser.newContext();
  await context.route(
    (url) => url.hostname !== "127.0.0.1",
    (route) => route.abort(),
  );
  return context.newPage();
}

const MAX_PAGES = 10;
/** Stands for the page that the program itself shows at the end. */
export const BACK = "back in the program";

/**
 * Does what a user does: logs in, agrees to every page that asks, until the program's own page comes. Returns the headings of
 * the pages that were seen.
 */
export async function logIn(page: Page, url: string, name = "ada"): Promise<string[]> {
  const seen: string[] = [];
  await page.goto(url, { waitUntil: "domcontentloaded" });
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    if (new URL(page.url()).pathname === "/callback") return [...seen, BACK];
    seen.push((await page.locator("h1").allTextContents())[0] ?? (await page.title()));
    if ((await page.locator('input[name="login"]').count()) > 0) {
      await page.fill('input[name="login"]', name);
      await page.fill('input[name="password"]', "any");
    }
    const button = page.locator('button[value="allow"], button[type="submit"]').first();
    if ((await button.count()) === 0) break;
    await Promise.all([page.waitForNavigation({ waitUntil: "domcontentloaded" }), button.click()]);
  }
  throw new Error(`the login did not end: ${seen.join(", ")} ${page.url()} ${await page.content()}`);
}
