import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  type BrowserStage,
  bundlePage,
  type HostPage,
  hasBrowser,
  hasPublished,
  openStage,
  pageWith,
  until,
} from "./browser-stage.js";
import type { StageOptions } from "./host-page.js";

const SLOW = { timeout: 120_000 };
const RESULT = { content: [{ type: "text" as const, text: "sunny" }], structuredContent: { degrees: 20 } };

describe.runIf(hasBrowser)("apps in Chromium", () => {
  let stage: BrowserStage;
  beforeAll(async () => {
    stage = await openStage();
  }, 240_000);
  afterEach(() => stage.closePages());
  afterAll(() => stage?.close());

  /** A host that shows a page. */
  async function shown(html: string, options: Partial<StageOptions> = {}): Promise<HostPage> {
    const host = await stage.openHost();
    expect(await host.run("show", { html }, { sandbox: stage.sandbox, url: stage.url, ...options })).toBe("ready");
    await until(host.view(), "globalThis.heard !== undefined");
    return host;
  }

  it("APP-05, APP-06, APP-07: our host shows our page with the call of a tool", SLOW, async () => {
    const host = await stage.openHost();
    await host.run("callAndShow", "map", { city: "Oslo" }, { sandbox: stage.sandbox, url: stage.url });
    const view = host.view();
    await until(view, "globalThis.heard?.length === 2");
    expect(await view.evaluate("heard")).toEqual([
      ["input", { city: "Oslo" }],
      ["result", expect.objectContaining({ content: [{ type: "text", text: "sunny in Oslo" }] })],
    ]);
    expect(await view.evaluate("[host.info.name, host.context.toolInfo.tool.name]")).toEqual(["stage", "map"]);
  });

  it("APP-07: input comes before the result, and what was sent early is kept", SLOW, async () => {
    const host = await shown(stage.view);
    const view = host.view();
    await host.run("partial", { city: "Os" });
    await host.run("input", { city: "Oslo" });
    await host.run("partial", { city: "late" });
    await expect(host.run("input", {})).rejects.toThrow(/already/);
    await host.run("context", { theme: "dark" });
    await host.run("result", RESULT);
    await expect(host.run("result", RESULT)).rejects.toThrow(/already/);
    await until(view, "heard.length === 4");
    expect(await view.evaluate("heard")).toEqual([
      ["partial", { city: "Os" }],
      ["input", { city: "Oslo" }],
      ["context", { theme: "dark" }],
      ["result", RESULT],
    ]);
    expect(await view.evaluate("host.context.theme")).toBe("dark");
  });

  it("APP-07: a result without its input is the host's mistake; a call may be cancelled instead", SLOW, async () => {
    const host = await shown(stage.view);
    await expect(host.run("result", RESULT)).rejects.toThrow(/does not have the arguments/);
    await host.run("cancelled", "by the user");
    await expect(host.run("cancelled", "twice")).rejects.toThrow(/already/);
    await until(host.view(), "heard.length === 1");
    expect(await host.view().evaluate("heard")).toEqual([["cancelled", "by the user"]]);
  });

  it("APP-08: our page asks our host for all that it may ask", SLOW, async () => {
    const context = { displayMode: "inline", availableDisplayModes: ["inline", "fullscreen"] } as const;
    const host = await shown(stage.view, {
      context: { ...context, availableDisplayModes: [...context.availableDisplayModes] },
    });
    const ask = (code: string) => host.view().evaluate(`(async () => ${code})()`);
    expect(await ask('host.callTool("refresh", {})')).toMatchObject({ content: [{ type: "text", text: "fresh" }] });
    expect(await ask('host.readResource("note://a")')).toMatchObject({
      contents: [{ uri: "note://a", text: "a note" }],
    });
    await ask('host.openLink("https://example.com/a?b#c")');
    await ask('host.sendMessage("hello")');
    await ask('host.updateModelContext({ structuredContent: { a: 1 }, content: [{ type: "text", text: "b" }] })');
    expect(await ask('host.requestDisplayMode("fullscreen")')).toBe("fullscreen");
    expect(await ask('host.requestDisplayMode("pip")')).toBe("fullscreen");
    await ask('host.log("warning", { a: 1 }, "view")');
    await ask("host.requestTeardown()");
    await until(host.page, 'stage.noted().some(([name]) => name === "close requested")');
    const noted = await host.run("noted");
    expect(noted.filter(([name]) => name !== "size")).toEqual([
      ["call", ["refresh", {}]],
      ["read", "note://a"],
      ["link", "https://example.com/a?b#c"],
      ["message", { role: "user", content: [{ type: "text", text: "hello" }] }],
      ["context", { structuredContent: { a: 1 }, content: [{ type: "text", text: "b" }] }],
      ["mode", "fullscreen"],
      ["log", { level: "warning", data: { a: 1 }, logger: "view" }],
      ["close requested", undefined],
    ]);
    expect(await host.view().evaluate("heard")).toEqual([["context", { displayMode: "fullscreen" }]]);
    expect(await host.view().evaluate("host.context.displayMode")).toBe("fullscreen");
  });

  it("APP-07: tells the page what the host does for it, and nothing that it does not", SLOW, async () => {
    const full = await shown(stage.view);
    expect(Object.keys((await full.view().evaluate("host.capabilities")) as object).sort()).toEqual(
      ["logging", "message", "openLinks", "sandbox", "serverResources", "serverTools", "updateModelContext"].sort(),
    );
    await stage.closePages();
    const absent = { call: "absent", read: "absent", link: "absent", message: "absent", context: "absent" } as const;
    const bare = await shown(stage.view, { hooks: absent });
    expect(await bare.view().evaluate("host.capabilities")).toEqual({
      logging: {},
      sandbox: { csp: {}, permissions: {} },
    });
    for (const code of [
      'callTool("refresh")',
      'openLink("https://example.com")',
      'sendMessage("a")',
      'readResource("note://a")',
    ]) {
      const refusal = await bare.view().evaluate(`host.${code}.catch((error) => [error.name, error.code])`);
      expect(refusal).toEqual(["HostError", -32601]);
    }
  });

  it("gives the frame the height of the page, and follows its changes within the host's bounds", SLOW, async () => {
    const tall = pageWith(await bundlePage("our-view.ts"), "<style>body{margin:0}p{margin:0;height:300px}</style>");
    const host = await shown(tall, { context: { containerDimensions: { width: 500, maxHeight: 400 } } });
    const height = 'document.querySelector("iframe").getBoundingClientRect().height';
    await until(host.page, `${height} === 300`);
    await host.view().evaluate('document.querySelector("p").style.height = "120px"');
    await until(host.page, `${height} === 120`);
    await host.view().evaluate('document.querySelector("p").style.height = "9000px"');
    await until(host.page, `${height} === 400`);
    expect(await host.noted("size")).toContainEqual({ width: expect.any(Number), height: 400 });
  });

  it("APP-07: lets the page save its work before it is removed, and waits no longer than it should", SLOW, async () => {
    const host = await shown(stage.view);
    await host.run("close", "new chat");
    expect(await host.noted("log")).toEqual([{ level: "info", data: "torn down: new chat" }]);
    expect(await host.noted("closed")).toEqual(["new chat"]);
    expect(await host.page.evaluate('document.querySelectorAll("iframe").length')).toBe(0);
    await host.run("close");
    await stage.closePages();
    const stuck = await shown(stage.view, { teardownMs: 50 });
    await stuck.view().evaluate('addEventListener("message", (event) => event.stopImmediatePropagation(), true)');
    await stuck.run("close", "in any case");
    expect(await stuck.noted("closed")).toEqual(["in any case"]);
  });

  it("APP-06: a page reaches what it declares, and nothing else", SLOW, async () => {
    const host = await stage.openHost();
    const page = { html: stage.view, csp: { connectDomains: [stage.outside] } };
    await host.run("show", page, { sandbox: stage.sandbox, allowLoopback: true });
    const tried = (path: string) =>
      host
        .view()
        .evaluate(`fetch(${JSON.stringify(`${stage.outside}/${path}`)}).then((answer) => answer.text(), String)`);
    expect(await tried("declared")).toBe("outside");
    expect(
      await host.view().evaluate(`new Promise((resolve) => {
      const image = new Image();
      image.onload = image.onerror = ({ type }) => resolve(type);
      image.src = "${stage.outside}/image";
    })`),
    ).toBe("error");
    expect(stage.arrivals()).toEqual(["GET /declared"]);
    expect(await host.view().evaluate("host.capabilities.sandbox.csp")).toEqual({ connectDomains: [stage.outside] });
  });

  it("APP-06: a page gets the permissions that it asks for and that the host grants", SLOW, async () => {
    const host = await stage.openHost();
    const page = { html: stage.view, permissions: ["camera", "geolocation"] as const };
    await host.run("show", page, { sandbox: stage.sandbox, permissions: ["geolocation", "microphone"] });
    const features = ["camera", "microphone", "geolocation", "clipboard-write"];
    expect(
      await host
        .view()
        .evaluate(`${JSON.stringify(features)}.filter((name) => document.featurePolicy.allowsFeature(name))`),
    ).toEqual(["geolocation"]);
    expect(await host.view().evaluate("host.capabilities.sandbox.permissions")).toEqual({ geolocation: {} });
  });

  it("closes an app that does not greet its host in time", SLOW, async () => {
    const host = await stage.openHost();
    const ready = await host.run("show", { html: "<p>silent" }, { sandbox: stage.sandbox, initializeMs: 1000 });
    expect(ready).toContain("the app did not initialize within 1000 ms");
    expect(await host.page.evaluate('document.querySelectorAll("iframe").length')).toBe(0);
  });

  it.each(["/sandbox", "about:blank", "javascript:alert(1)", "ftp://a.example"])(
    "APP-06: refuses %s as a sandbox, which is not on another origin",
    SLOW,
    async (sandbox) => {
      const host = await stage.openHost();
      await expect(host.run("show", { html: stage.view }, { sandbox })).rejects.toThrow(/`sandbox` of showApp/);
    },
  );

  it.runIf(hasPublished)("our host shows a page with the published App", SLOW, async () => {
    const html = pageWith(await bundlePage("apps-view.mjs"));
    const host = await shown(html, { context: { theme: "light", availableDisplayModes: ["inline", "fullscreen"] } });
    await host.run("input", { city: "Oslo" });
    await host.run("context", { theme: "dark" });
    await host.run("result", RESULT);
    const view = host.view();
    await until(view, "heard.length === 3");
    expect(await view.evaluate("heard")).toEqual([
      ["input", { arguments: { city: "Oslo" } }],
      ["context", { theme: "dark" }],
      ["result", RESULT],
    ]);
    expect(await view.evaluate('app.callServerTool({ name: "refresh", arguments: {} })')).toMatchObject({
      content: [{ type: "text", text: "fresh" }],
    });
    expect(await view.evaluate('app.readServerResource({ uri: "note://a" })')).toMatchObject({
      contents: [{ text: "a note" }],
    });
    await view.evaluate('app.openLink({ url: "https://example.com/" })');
    await view.evaluate('app.sendMessage({ role: "user", content: [{ type: "text", text: "hello" }] })');
    await view.evaluate("app.updateModelContext({ structuredContent: { a: 1 } })");
    expect(await view.evaluate('app.requestDisplayMode({ mode: "fullscreen" })')).toEqual({ mode: "fullscreen" });
    expect(
      await view.evaluate(
        'app.callServerTool({ name: "secret", arguments: {} }).then(() => "called", (error) => error.code)',
      ),
    ).toBe(-32602);
    await host.run("close", "done");
    expect(await host.noted("log")).toEqual([{ level: "info", data: "torn down" }]);
    expect((await host.noted("size")).length).toBeGreaterThan(0);
    for (const name of ["call", "read", "link", "message", "context", "mode"])
      expect(await host.noted(name)).toHaveLength(1);
  });

  it.runIf(hasPublished)("the published AppBridge shows our page in our sandbox", SLOW, async () => {
    const { page } = await stage.openHost();
    await page.waitForFunction("globalThis.showPublished !== undefined");
    const settings = JSON.stringify({ html: stage.view, sandbox: stage.sandbox });
    expect(await page.evaluate(`showPublished(${settings})`)).toEqual({ name: "ours", version: "1" });
    const view = page.frames().find((frame) => frame.parentFrame()?.parentFrame() === page.mainFrame());
    if (view === undefined) throw new Error("there is no app");
    await until(view, "globalThis.heard !== undefined");
    await page.evaluate('bridge.sendToolInput({ arguments: { city: "Oslo" } })');
    await page.evaluate(`bridge.sendToolResult(${JSON.stringify(RESULT)})`);
    await page.evaluate(
      'bridge.setHostContext({ theme: "light", displayMode: "inline", availableDisplayModes: ["inline"] })',
    );
    await until(view, "heard.length === 3");
    expect(await view.evaluate("heard")).toEqual([
      ["input", { city: "Oslo" }],
      ["result", RESULT],
      ["context", expect.objectContaining({ theme: "light" })],
    ]);
    expect(await view.evaluate('host.callTool("refresh", { a: 1 })')).toMatchObject({
      content: [{ type: "text", text: "called refresh" }],
    });
    expect(await view.evaluate('host.readResource("note://a")')).toMatchObject({ contents: [{ text: "read" }] });
    await view.evaluate('host.openLink("https://example.com/")');
    expect(await view.evaluate('host.openLink("https://denied.example/").catch((error) => error.name)')).toBe(
      "HostError",
    );
    await view.evaluate('host.sendMessage("hello")');
    await view.evaluate("host.updateModelContext({ structuredContent: { a: 1 } })");
    expect(await view.evaluate('host.requestDisplayMode("fullscreen")')).toBe("fullscreen");
    await page.evaluate("bridge.teardownResource({})");
    await page.waitForFunction('noted.some(([name]) => name === "log")');
    const noted = (await page.evaluate("noted")) as [string, unknown][];
    expect(noted.filter(([name]) => name !== "size")).toEqual([
      ["tools/call", expect.objectContaining({ name: "refresh", arguments: { a: 1 } })],
      ["ui/message", expect.objectContaining({ content: [{ type: "text", text: "hello" }] })],
      ["ui/update-model-context", expect.objectContaining({ structuredContent: { a: 1 } })],
      ["log", expect.objectContaining({ data: "torn down: undefined" })],
    ]);
    expect(noted.some(([name]) => name === "size")).toBe(true);
  });
});
