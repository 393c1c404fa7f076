import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) => existsSync(path));

/** Whether there is a browser for tests; `scripts/system-packages.sh` installs it. */
export const hasChromium = executablePath !== undefined;

/** Nothing of the browser's own may reach beyond this machine. */
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
export function launchChromium(flags: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: String(executablePath), headless: true, args: [...FLAGS, ...flags] });
}
