// Takes the pictures of the guide to the inspector, docs/inspector, in a real browser.
//
// Usage: npm run docs:screenshots [-- folder]      after `npm run build`
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { type InspectorTarget, startInspector } from "@parley/inspector";
import { connect } from "@parley/mcp";
import { resourceServer } from "@parley/mcp/auth";
import { serveHttp } from "@parley/mcp/node";
import { server as everything } from "../../examples/everything/server.js";
import { hasBrowser, launchBrowser } from "../../packages/inspector/test/kit/browser.js";
import { TestIssuer } from "../../packages/mcp/test/auth/test-issuer.js";
import { freePort } from "../../packages/mcp/test/free-port.js";
import { travel } from "./travel-server.js";
import { VIEWS } from "./views.js";
import { startWrongServer } from "./wrong-server.js";

const SIZE = { width: 1280, height: 800 };
const folder = resolve(process.argv[2] ?? join(import.meta.dirname, "../inspector"));

if (hasBrowser) await takePictures();

async function takePictures(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const served = await serveHttp(everything, { port: 0 });
  const target: InspectorTarget = {
    kind: "url",
    shown: served.url,
    url: served.url,
    open: (options) => connect(served.url, options),
  };
  const own: InspectorTarget = { kind: "module", shown: "./travel.ts", open: (options) => connect(travel, options) };
  const inspector = await startInspector({ targets: [target, own] });
  const wrong = await startWrongServer();
  const issuer = await TestIssuer.start();
  const port = await freePort();
  const resource = `http://127.0.0.1:${port}/mcp`;
  const auth = resourceServer({ resource, issuer: issuer.issuer, scopes: ["notes:read", "notes:write"] });
  const guarded = await serveHttp(everything, { port, auth });
  const browser = await launchBrowser();
  try {
    const context = await browser.newContext({ viewport: SIZE, colorScheme: "light", reducedMotion: "reduce" });
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    await page.goto(inspector.url);
    for (const [name, show] of VIEWS) {
      await show(page, { wrong: wrong.url, guarded: guarded.url });
      await page.screenshot({ path: join(folder, `${name}.png`) });
      console.log(`docs:screenshots: ${name}`);
    }
  } finally {
    await browser.close();
    await inspector.close();
    await Promise.all([served.close(), guarded.close()]);
    wrong.close();
    issuer.close();
  }
}
