import { hasChromium, launchChromium } from "../../../mcp/test/browser/chromium.js";

/** Whether there is a browser to try the page in. */
export const hasBrowser = hasChromium;
if (!hasBrowser) {
  console.log(
    "inspector: Chromium is not installed (scripts/system-packages.sh); the page was tried in no real browser",
  );
}

/** Starts a browser. Close it. */
export const launchBrowser = launchChromium;
