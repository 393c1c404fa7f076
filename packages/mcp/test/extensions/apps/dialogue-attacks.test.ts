import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type BrowserStage, type HostPage, hasBrowser, openStage, pageWith, until } from "./browser-stage.js";
import { DIALOGUE_ATTACKS, DIALOGUE_PRELUDE, ISOLATION_ATTACKS } from "./dialogue-attacks.js";
import type { StageOptions } from "./host-page.js";

/** What the host may note about a page that does nothing. */
const QUIET = ["size", "refused", "warning"];

describe.runIf(hasBrowser)("a hostile page in Chromium", () => {
  let stage: BrowserStage;
  beforeAll(async () => {
    stage = await openStage();
  }, 240_000);
  afterAll(() => stage?.close());

  async function show(html = stage.view, options: Partial<StageOptions> = {}): Promise<HostPage> {
    const host = await stage.openHost();
    await host.run("show", { html }, { sandbox: stage.sandbox, url: stage.url, ...options });
    return host;
  }

  const inView = (host: HostPage, code: string) => {
    const body = code.includes("return ") ? code : `return ${code}`;
    return host.view().evaluate(`(async () => { ${DIALOGUE_PRELUDE} ${body} })()`);
  };

  describe("APP-05, APP-08: gets nothing from its host when it", () => {
    let host: HostPage;
    beforeAll(async () => {
      host = await show(undefined, {
        context: { availableDisplayModes: ["inline", "fullscreen"] },
        limits: { maxMessagesPerSecond: 1000 },
      });
      await until(host.view(), "globalThis.host");
    });

    it.each(DIALOGUE_ATTACKS.map((attack) => [attack.name, attack] as const))("%s", async (_name, attack) => {
      const before = (await host.run("noted")).length;
      expect(await inView(host, attack.code)).toEqual(attack.gets);
      const noted = (await host.run("noted")).slice(before).map(([name]) => name);
      expect(noted.filter((name) => !QUIET.includes(name))).toEqual(attack.calls ?? []);
      // And nobody is worse off.
      expect(await inView(host, 'ask("ping")')).toEqual({});
    });

    it("and none of it changed the host", async () => {
      expect(await host.page.evaluate("[({}).admin, Object.keys(Object.prototype).length]")).toEqual([undefined, 0]);
      expect(host.page.frames()).toHaveLength(3);
    });
  });

  describe("APP-06: cannot", () => {
    let host: HostPage;
    beforeAll(async () => {
      host = await stage.openHost();
      await host.page.evaluate('localStorage.setItem("secret", "1"); document.cookie = "secret=1"');
      const permissions = ["camera", "microphone", "geolocation", "clipboardWrite"] as const;
      await host.run("show", { html: stage.view, permissions }, { sandbox: stage.sandbox });
    });

    it.each(ISOLATION_ATTACKS)("%s", async (_name, code, gets) => {
      expect(
        await host
          .view()
          .evaluate(
            `(async () => { await new Promise((resolve) => setTimeout(resolve)); try { return ${code}; } catch (error) { return error.name; } })()`,
          ),
      ).toEqual(gets);
    });

    it("see the storage of its host, even with an origin", async () => {
      const open = await show(undefined, { sameOrigin: true });
      // Browsers may refuse storage to frames of other sites altogether.
      const stored = '(() => { try { return localStorage.getItem("secret"); } catch { return null; } })()';
      expect(await open.view().evaluate(`[self.origin, ${stored}, document.cookie]`)).toEqual([
        new URL(stage.sandbox).origin,
        null,
        "",
      ]);
      expect(await open.view().evaluate("fetch('http://127.0.0.1:1/').catch((error) => error.name)")).toBe("TypeError");
    });
  });

  describe("APP-07, APP-08:", () => {
    afterEach(() => stage.closePages());

    it("is not heard before the handshake, and is sent nothing", async () => {
      const early = pageWith(`
        globalThis.got = [];
        addEventListener("message", ({ data }) => got.push(data));
        const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
        send({ id: 1, method: "tools/call", params: { name: "refresh", arguments: {} } });
        send({ id: 2, method: "ui/open-link", params: { url: "https://example.com/" } });
        send({ method: "notifications/message", params: { level: "info", data: 1 } });
        send({ method: "ui/notifications/initialized" });
        send({ id: 3, method: "ui/initialize", params: { protocolVersion: "2026-01-26", appInfo: { name: "a", version: "1" }, appCapabilities: {} } });
        send({ id: 4, method: "tools/call", params: { name: "refresh", arguments: {} } });
        send({ id: 5, method: "ping" });
      `);
      const host = await stage.openHost();
      const shown = host.run("show", { html: early }, { sandbox: stage.sandbox, url: stage.url, initializeMs: 1500 });
      await until(host.page, "frames[0]?.frames !== undefined && stage.noted().length >= 3");
      await host.run("input", { city: "Oslo" });
      await until(host.view(), "globalThis.got.length === 5");
      const got = (await host.view().evaluate("got")) as { id: number; method?: string; error?: { code: number } }[];
      expect(got.map(({ id, error }) => [id, error?.code]).sort()).toEqual([
        [1, -32601],
        [2, -32601],
        [3, undefined],
        [4, -32601],
        [5, undefined],
      ]);
      expect(await shown).toContain("did not initialize");
      const noted = (await host.run("noted")).map(([name]) => name);
      expect(noted.filter((name) => name !== "refused")).toEqual(["closed"]);
    });

    it("is closed when it floods its host", async () => {
      const host = await show(undefined, { limits: { maxMessagesPerSecond: 20 } });
      await inView(
        host,
        'for (let at = 0; at < 1000; at++) send({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: at } }); return 1',
      );
      await until(host.page, 'stage.noted().some(([name]) => name === "closed")');
      expect(await host.noted("closed")).toEqual(["the app sent too many messages"]);
      expect((await host.noted("log")).length).toBeLessThanOrEqual(60);
      expect(host.page.frames()).toHaveLength(1);
    });

    it("gets an answer to what exceeds its rate, and goes on afterwards", async () => {
      const host = await show(undefined, { limits: { maxMessagesPerSecond: 20 } });
      const answers = (await inView(
        host,
        'return Promise.all(Array.from({ length: 80 }, () => ask("ping")))',
      )) as unknown[];
      expect(answers.filter((answer) => answer === -32600).length).toBeGreaterThan(20);
      expect(answers).not.toContain("none");
      await host.page.waitForTimeout(500);
      expect(await inView(host, 'ask("ping")')).toEqual({});
    });

    it("cannot have more requests answered at once than it may", async () => {
      const host = await show(undefined, { hooks: { link: "hang" }, limits: { maxRequests: 4 } });
      const code = `const answered = [];
        for (let at = 0; at < 6; at++) {
          ask("ui/open-link", { url: "https://example.com/" }, { wait: 60000 }).then((answer) => answered.push([at, answer]));
        }
        while (answered.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
        return answered`;
      expect(await inView(host, code)).toEqual([
        [4, -32000],
        [5, -32000],
      ]);
      await expect.poll(() => host.noted("link")).toHaveLength(4);
    });

    it("cannot use an id twice at once", async () => {
      const host = await show(undefined, { hooks: { link: "hang" } });
      const code =
        'send({ jsonrpc: "2.0", id: 7, method: "ui/open-link", params: { url: "https://example.com/" } }); return ask("ping", {}, { id: 7 })';
      expect(await inView(host, code)).toBe(-32600);
    });

    it("is answered in time when the user does not decide, and its request ends when it gives up", async () => {
      const late = await show(undefined, { hooks: { call: "hang" }, requestMs: 100 });
      expect(await inView(late, 'ask("tools/call", { name: "refresh" })')).toBe(-32000);
      const quitting = await show(undefined, { hooks: { call: "hang" }, limits: { maxRequests: 1 } });
      const code = `const abort = new AbortController();
        const call = host.callTool("refresh", {}, { signal: abort.signal });
        abort.abort();
        const error = await call.catch(({ name, message }) => [name, message]);
        return [error, await ask("ping")]`;
      expect(await inView(quitting, code)).toEqual([["HostError", "tools/call was cancelled"], {}]);
    });

    it.each([
      ["call", 'host.callTool("refresh")'],
      ["read", 'host.readResource("note://a")'],
      ["link", 'host.openLink("https://example.com/")'],
      ["message", 'host.sendMessage("a")'],
      ["context", "host.updateModelContext({})"],
    ] as const)("is told when the user denies a %s, and learns nothing of a host that fails", async (hook, code) => {
      const asked = `${code}.then(() => "done", ({ code, message }) => [code, message])`;
      const denied = await show(undefined, { hooks: { [hook]: false } });
      await until(denied.view(), "globalThis.host");
      expect(await denied.view().evaluate(asked)).toEqual([-32000, expect.stringContaining("was denied")]);
      const failing = await show(undefined, { hooks: { [hook]: "throw" } });
      await until(failing.view(), "globalThis.host");
      expect(await failing.view().evaluate(asked)).toEqual([-32603, "the host failed"]);
      expect(await failing.noted("warning")).toEqual([expect.stringContaining("boom")]);
    });

    it("is closed when its sandbox is navigated", async () => {
      const host = await show();
      await host.page.frames()[1]?.goto(`${stage.outside}/elsewhere`);
      await until(host.page, 'stage.noted().some(([name]) => name === "closed")');
      expect(await host.noted("closed")).toEqual(["the sandbox loaded another page"]);
    });

    it("keeps no dialogue for a page that it navigates to, even one that it may embed and that never ends to load", async () => {
      const host = await stage.openHost();
      const page = { html: stage.view, csp: { frameDomains: [stage.outside] } };
      await host.run("show", page, { sandbox: stage.sandbox, allowLoopback: true });
      await host.view().evaluate(`new Promise((resolve) => {
        const frame = document.createElement("iframe");
        frame.onload = resolve;
        frame.src = "${stage.outside}/nested";
        document.body.append(frame);
      })`);
      expect(stage.arrivals()).toContain("GET /nested");
      await host
        .view()
        .evaluate(`location.href = "${stage.outside}/speaks"`)
        .catch(() => {});
      await until(host.page, 'stage.noted().some(([name]) => name === "closed")');
      expect(await host.noted("closed")).toEqual(["the app navigated away or rewrote its document"]);
      expect(await host.noted("link")).toEqual([]);
      expect(stage.arrivals()).not.toContain("GET /speaks");
    });

    it("is closed when it writes its document anew, and its host waits for nothing", async () => {
      const host = await show(undefined, { hooks: { link: "hang" } });
      await host
        .view()
        .evaluate('document.open(); document.write("<p>anew"); document.close()')
        .catch(() => {});
      await until(host.page, 'stage.noted().some(([name]) => name === "closed")');
      expect(await host.noted("closed")).toEqual(["the app navigated away or rewrote its document"]);
      expect(host.page.frames()).toHaveLength(1);
    });

    it("is not heard when something else is in the place of its sandbox", async () => {
      const host = await show();
      // It never ends to load, so that only its origin tells.
      await host.page.evaluate(`document.querySelector("iframe").src = "${stage.outside}/speaks"`);
      await until(host.page, "globalThis.spoken === true");
      expect(await host.noted("link")).toEqual([]);
    });

    it("gets no messages of other windows, and its host none of theirs", async () => {
      const host = await show();
      await until(host.view(), "globalThis.host");
      const ask = `{ jsonrpc: "2.0", id: 1, method: "ui/open-link", params: { url: "https://example.com/" } }`;
      const tell = `{ jsonrpc: "2.0", method: "ui/notifications/tool-input", params: {} }`;
      // A page of another origin, one of the sandbox's own, as another app has it, and one of the host's.
      for (const src of [stage.outside, stage.sandbox, `${stage.hostOrigin}/empty`]) {
        await host.page.evaluate(`new Promise((resolve) => {
          const frame = document.createElement("iframe");
          frame.onload = resolve;
          frame.src = ${JSON.stringify(src)};
          document.body.append(frame);
        })`);
        const other = host.page.frames().at(-1);
        if (other === undefined) throw new Error("there is no other frame");
        expect(other.url()).toContain(src);
        await other.evaluate(
          `parent.postMessage(${ask}, "*"); parent.frames[0].postMessage(${tell}, "*"); parent.frames[0].frames[0].postMessage(${tell}, "*")`,
        );
      }
      await host.page.evaluate(`postMessage(${ask}, "*"); frames[0].frames[0].postMessage(${tell}, "*")`);
      // What was sent before has arrived when this has.
      expect(await inView(host, 'ask("ping")')).toEqual({});
      expect(await host.noted("link")).toEqual([]);
      expect(await host.view().evaluate("heard")).toEqual([]);
    });

    it("is not shown by a sandbox that was made for another host", async () => {
      const host = await stage.openHost();
      const settings = { sandbox: stage.sandbox.replace("/sandbox", "/other"), initializeMs: 1000 };
      expect(await host.run("show", { html: stage.view }, settings)).toContain("did not initialize");
    });
  });
});
