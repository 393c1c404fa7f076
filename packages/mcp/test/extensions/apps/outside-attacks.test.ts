import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BrowserStage, type HostPage, hasBrowser, openStage } from "./browser-stage.js";
import { OUTSIDE_ATTACKS, OUTSIDE_PAGES, POLICY_ATTACKS, PRELUDE } from "./outside-attacks.js";

/** How long what should not arrive is waited for; what is allowed takes a few milliseconds. */
const WAIT_MS = 150;
/** Attacks that, without a policy, take the whole page away or open another one. */
const LEAVES = /top|parent|open|_blank|download/;

/** Attacks after which the app is closed, at once or a little later. */
const NAVIGATES = /submit|click|location|refresh|document\.open/;

describe.runIf(hasBrowser)("APP-06: a page in Chromium that declares nothing", () => {
  let stage: BrowserStage;
  let host: HostPage;
  let opened: string[];
  beforeAll(async () => {
    stage = await openStage();
    await openHost();
  }, 240_000);
  afterAll(() => stage?.close());

  async function openHost(): Promise<void> {
    await stage.closePages();
    stage.arrivals();
    opened = [];
    host = await stage.openHost();
    host.page.on("popup", (popup) => opened.push(popup.url()));
    host.page.on("download", (download) => opened.push(download.url()));
  }

  /** Runs code in the page, and gives what reached the outside: `now`, or as soon as there is something. */
  async function tried(code: string, when: "now" | "soon" = "now"): Promise<string[]> {
    const run = `(async () => { const OUTSIDE = ${JSON.stringify(`${stage.outside}/x`)}; ${PRELUDE} ${code} })()`;
    // Navigation may end the page before it answers.
    const ran = host
      .view()
      .evaluate(run)
      .catch(() => {});
    await Promise.race([ran, host.page.waitForTimeout(1000)]);
    let arrived = stage.arrivals();
    for (let tries = 0; tries < (when === "now" ? 1 : 50) && arrived.length === 0; tries++) {
      await host.page.waitForTimeout(WAIT_MS);
      arrived = stage.arrivals();
    }
    return arrived;
  }

  it("is tried with attacks that all arrive from a page without a policy", { timeout: 240_000 }, async () => {
    const stopped: string[] = [];
    for (const [name, code] of OUTSIDE_ATTACKS) {
      const inner = "<iframe srcdoc='<head></head><body>'></iframe>";
      await host.page.evaluate(`document.body.innerHTML = "<iframe></iframe>"`);
      await host.page.evaluate(`frames[0].document.body.innerHTML = ${JSON.stringify(inner)}`);
      const { page } = host;
      const inside = "frames[0].frames[0]?.document";
      await expect.poll(() => page.evaluate(`${inside}?.URL + ${inside}?.readyState`)).toBe("about:srcdoccomplete");
      if ((await tried(code, "soon")).length === 0) stopped.push(name);
      if (LEAVES.test(code)) await openHost();
    }
    expect(stopped).toEqual([]);
    await openHost();
  });

  it("reaches what it declares, by the same means", async () => {
    const page = { html: stage.view, csp: { connectDomains: [stage.outside], resourceDomains: [stage.outside] } };
    await host.run("show", page, { sandbox: stage.sandbox, allowLoopback: true });
    expect(await tried("await fetch(OUTSIDE)", "soon")).toEqual(["GET /x"]);
    expect(await tried("new Image().src = OUTSIDE", "soon")).toEqual(["GET /x"]);
    await openHost();
  });

  it("sends no form even to what it may embed", async () => {
    await openHost();
    const page = { html: stage.view, csp: { frameDomains: [stage.outside] } };
    await host.run("show", page, { sandbox: stage.sandbox, allowLoopback: true });
    expect(await tried("body(\"<iframe src='@'></iframe>\")", "soon")).toEqual(["GET /x"]);
    expect(await tried("body(\"<form method=post action='@'></form>\"); document.forms[0].submit()")).toEqual([]);
    await openHost();
  });

  it.each(OUTSIDE_ATTACKS)("cannot reach others by %s", async (_name, code) => {
    // One page serves many attacks, until one of them may have navigated or closed it.
    if (host.page.frames().length !== 3 || NAVIGATES.test(code)) {
      await openHost();
      expect(await host.run("show", { html: stage.view }, { sandbox: stage.sandbox })).toBe("ready");
    }
    expect(await host.view().evaluate("typeof globalThis.host")).toBe("object");
    expect(await tried(code)).toEqual([]);
    if (NAVIGATES.test(code)) await openHost();
    expect(opened).toEqual([]);
    expect(host.page.url()).toBe(`${stage.hostOrigin}/`);
  });

  it.each(OUTSIDE_PAGES)("cannot reach others as %s", async (_name, html) => {
    await openHost();
    const text = html.replaceAll("OUTSIDE", `${stage.outside}/x`).replace("VIEW", () => stage.view);
    await host.run("show", { html: text }, { sandbox: stage.sandbox, initializeMs: 2000 });
    await host.page.waitForTimeout(WAIT_MS);
    expect(stage.arrivals()).toEqual([]);
  });

  it.each(POLICY_ATTACKS)("cannot be let out by the domain %j", async (domain) => {
    await openHost();
    const domains = [domain.replace("ORIGIN", stage.outside)];
    const csp = { connectDomains: domains, resourceDomains: domains, frameDomains: domains, baseUriDomains: domains };
    expect(await host.run("show", { html: stage.view, csp }, { sandbox: stage.sandbox })).toBe("ready");
    expect(await tried("fetch(OUTSIDE).catch(() => {}); new Image().src = OUTSIDE")).toEqual([]);
    expect(await tried("body(\"<iframe src='@'></iframe>\")")).toEqual([]);
  });

  it.each(POLICY_ATTACKS.filter((domain) => !domain.startsWith("ORIGIN")))(
    "cannot be let out by the domain %j where the host checks nothing and the sandbox is alone",
    async (domain) => {
      await openHost();
      const domains = [domain.replace("ORIGIN", stage.outside)];
      const params = { html: stage.view, csp: { connectDomains: domains, resourceDomains: domains } };
      await host.page.evaluate(showUnchecked(stage.sandbox, params));
      expect(await tried("fetch(OUTSIDE).catch(() => {}); new Image().src = OUTSIDE")).toEqual([]);
    },
  );
});

/** Code of a host that gives a sandbox whatever it has, until the page greets it. */
const showUnchecked = (sandbox: string, params: object) => `new Promise((resolve) => {
  const frame = document.createElement("iframe");
  frame.src = ${JSON.stringify(sandbox)};
  addEventListener("message", ({ data: { method } }) => {
    const message = { method: "ui/notifications/sandbox-resource-ready", params: ${JSON.stringify(params)} };
    if (method === "ui/notifications/sandbox-proxy-ready") frame.contentWindow.postMessage(message, "*");
    if (method === "ui/initialize") resolve();
  });
  document.body.append(frame);
})`;
