import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, Server } from "@parley/mcp";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Inspector } from "../../src/inspector-options.js";
import { openInspector } from "../../src/open-inspector.js";
import { builtPage } from "../kit/built-page.js";
import { actionHeaders, type InspectorKeys, keysOf } from "../kit/inspector-keys.js";
import { requestText, sendRaw } from "../kit/raw-http.js";
import { type ForeignSite, openForeignSite } from "./foreign-site.js";

/** Whoever has both keys is the page. What a page can never do is tried here with them: it may be a page that was taken over. */
describe("a page that was taken over", () => {
  let inspector: Inspector;
  let keys: InspectorKeys;
  let site: ForeignSite;
  let folder: string;
  let opened: number;
  /** A file that exists once somebody ran a command. */
  let mark: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "parley-page-inputs-"));
    mark = join(folder, "ran");
    opened = 0;
    site = await openForeignSite();
    const server = new Server({ name: "own", version: "1" }).tool("hello", () => "hello");
    const target = {
      kind: "command" as const,
      shown: "own",
      open: (options: Parameters<typeof connect>[1]) => {
        opened += 1;
        return connect(server, options);
      },
    };
    inspector = await openInspector({ targets: [target] }, await builtPage());
    keys = await keysOf(inspector.url);
    const isConnected = async () => expect((await act("list", { connection: "c1", kind: "tools" })).ok).toBe(true);
    await vi.waitFor(isConnected, { timeout: 20_000 });
  });
  afterAll(async () => {
    await inspector?.close();
    await site?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function act(name: string, input: object | string): Promise<{ ok: boolean; problem?: { kind?: string } }> {
    const body = typeof input === "string" ? input : JSON.stringify(input);
    const headers = [...actionHeaders(keys), `Content-Length: ${Buffer.byteLength(body)}`];
    const answer = await sendRaw(keys.port, requestText("POST", `/api/${name}`, headers, body));
    return JSON.parse(answer.body);
  }

  const expectRefused = async (name: string, input: object | string) => {
    const before = opened;
    expect(await act(name, input)).toMatchObject({ ok: false, problem: { kind: "invalid_params" } });
    expect(existsSync(mark)).toBe(false);
    expect(opened).toBe(before);
  };

  describe("runs no command", () => {
    const command = () => ({ command: "touch", args: [mark] });
    for (const [what, name, input] of [
      ["in place of a target", "connect", () => ({ target: command() })],
      ["as the words of a target", "connect", () => ({ target: `touch ${mark}` })],
      ["as a path of a module", "connect", () => ({ target: "./server.ts" })],
      ["in place of an address", "connectUrl", () => ({ url: command() })],
      ["beside no address", "connectUrl", () => command()],
      [
        "by a transport for programs",
        "connectUrl",
        () => ({ url: "http://127.0.0.1:9/", transport: "stdio", ...command() }),
      ],
      ["as an address for programs", "connectUrl", () => ({ url: `stdio:touch?${mark}` })],
      ["by a shell in an address", "connectUrl", () => ({ url: `;touch ${mark}` })],
      ["by a reopened connection", "reopen", () => ({ connection: "c9", target: command() })],
      ["by a replay against one", "replay", () => ({ session: "c9", against: command(), all: true })],
      ["as a target's prototype", "connect", () => `{"__proto__":{"target":"target-1"}}`],
    ] as const) {
      it(what, () => expectRefused(name, input()));
    }

    it("beside a target that there is: only the target is used", async () => {
      const answer = await act("connect", { target: "target-1", ...command(), env: { PATH: folder }, cwd: folder });
      expect(answer).toMatchObject({ ok: true });
      await expect.poll(() => opened).toBe(2);
      expect(existsSync(mark)).toBe(false);
    });
  });

  describe("names no target but those of the terminal", () => {
    for (const target of [
      "",
      "target-0",
      "target-2",
      "target-1 ",
      "__proto__",
      "constructor",
      "toString",
      "c1",
      "../target-1",
      1,
      null,
      ["target-1"],
    ]) {
      it(JSON.stringify(target), () => expectRefused("connect", { target }));
    }
  });

  describe("opens no address but those of servers", () => {
    for (const url of [
      "file:///etc/passwd",
      "javascript:alert(1)",
      "data:text/plain,x",
      "ws://127.0.0.1/",
      "ftp://127.0.0.1/",
      "unix:///var/run/docker.sock",
      "blob:http://127.0.0.1/x",
      "about:blank",
      "http://",
      "//127.0.0.1/",
      "http://user:password@127.0.0.1/",
      "http://127.0.0.1:99999/",
      `http://127.0.0.1/${"a".repeat(100_000)}`,
    ]) {
      it(url.slice(0, 60), () => expectRefused("connectUrl", { url }));
    }
  });

  describe("sets no header that makes another request of it", () => {
    for (const headers of [
      { "x-a": "1\r\nHost: evil.example" },
      { "x-a": "1\nx-b: 2" },
      { "x-a\r\nx-b": "1" },
      { "x-a": "\0" },
      { host: "evil.example" },
      { "Transfer-Encoding": "chunked" },
      { "content-length": "1" },
      { "x a": "1" },
      { "": "1" },
      { "x-a": { toString: "1" } },
      ["x-a: 1"],
      "x-a: 1",
    ]) {
      it(JSON.stringify(headers), async () => {
        site.arrivals();
        await expectRefused("connectUrl", { url: `http://127.0.0.1:${site.port}/mcp`, headers });
        expect(site.arrivals()).toEqual([]);
      });
    }
  });

  describe("uses nothing that is not there", () => {
    for (const [name, input] of [
      ["disconnect", { connection: "c9" }],
      ["forget", { connection: "__proto__" }],
      ["list", { connection: "constructor", kind: "tools" }],
      ["list", { connection: "c1", kind: "__proto__" }],
      ["offer", { connection: "c1", kind: "tools", name: { a: 1 } }],
      ["call", { connection: "c9", request: { kind: "tool", name: "x", arguments: {} } }],
      ["call", { connection: "c1", request: { kind: "spawn", command: "touch" } }],
      ["call", { connection: "c1", request: null }],
      ["cancelCall", { call: "__proto__" }],
      ["outcome", { call: "toString" }],
      ["answer", { question: "q9", answer: {} }],
      ["entry", { seq: -1 }],
      ["entry", { seq: "0" }],
      ["copy", { seq: 0, form: "__proto__" }],
      ["exportSession", { connection: "../../etc/passwd" }],
      ["modelView", { connection: "c1", provider: "constructor" }],
      ["setRoots", { connection: "c1", roots: [{ uri: "https://evil.example/" }] }],
      ["setLogLevel", { connection: "c1", level: "constructor" }],
    ] as const) {
      it(`${name} ${JSON.stringify(input)}`, () => expectRefused(name, input));
    }
  });

  it("is told of a failure without the place in the program where it arose", async () => {
    for (const [name, input] of [
      ["entry", {}],
      ["call", {}],
      ["importSession", { text: "{}", name: "a" }],
    ] as const) {
      const answer = JSON.stringify(await act(name, input));
      expect(answer).not.toMatch(/\.ts:\d|node_modules|\bat /);
    }
  });
});
