import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) => existsSync(path));
if (executablePath === undefined) {
  console.log(
    "inspector: Chromium is not installed (scripts/system-packages.sh); the page was tried in no real browser",
  );
}

/** Whether there is a browser to try the page in. */
export const hasBrowser = executablePath !== undefined;

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--use-fake-device-for-media-stream",
];

/** Starts a browser. Close it. */
export function launchBrowser(flags: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: String(executablePath), headless: true, args: [...FLAGS, ...flags] });
}
