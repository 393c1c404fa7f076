import { describe, expect, it } from "vitest";
import { openWebServer } from "../../src/web/web-server.js";
import { hasBrowser, launchBrowser } from "../kit/browser.js";
import { builtPage } from "../kit/built-page.js";
import { ScriptedEngine } from "../kit/scripted-engine.js";

describe.runIf(hasBrowser)("the sandbox for apps, in the page", () => {
  for (const name of ["127.0.0.1", "localhost"]) {
    it(`is framed by the page that was opened at ${name}, and announces itself to it`, async () => {
      const engine = new ScriptedEngine();
      const web = await openWebServer(engine, { port: 0, pageFolder: await builtPage() });
      const browser = await launchBrowser();
      const page = await browser.newPage();
      await page.goto(web.url.replace("127.0.0.1", name));
      const announced = await page.evaluate((address) => {
        const heard = new Promise((resolve) => {
          addEventListener("message", ({ data, origin }) => resolve([data.method, origin]));
        });
        const frame = document.createElement("iframe");
        frame.src = address;
        document.body.append(frame);
        return heard;
      }, engine.sandbox);
      expect(announced).toEqual(["ui/notifications/sandbox-proxy-ready", new URL(engine.sandbox).origin]);
      await browser.close();
      await web.close();
    });
  }
});
