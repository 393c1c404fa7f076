import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { openWebServer, type WebServer } from "../../src/web/web-server.js";
import { builtPage } from "../kit/built-page.js";
import { actionHeaders, type InspectorKeys, keysOf } from "../kit/inspector-keys.js";
import { requestText, sendRaw } from "../kit/raw-http.js";
import { ScriptedEngine } from "../kit/scripted-engine.js";

let engine: ScriptedEngine;
let web: WebServer;
let keys: InspectorKeys;

beforeAll(async () => {
  engine = new ScriptedEngine();
  web = await openWebServer(engine, { port: 0, pageFolder: await builtPage() });
  keys = await keysOf(web.url);
});
afterAll(() => web.close());
beforeEach(() => {
  engine.asked.length = 0;
});

const get = (target: string) => sendRaw(keys.port, requestText("GET", target, actionHeaders(keys)));
const post = (target: string, body: string) =>
  sendRaw(
    keys.port,
    requestText("POST", target, [...actionHeaders(keys), `Content-Length: ${Buffer.byteLength(body)}`], body),
  );

describe("a path that leads elsewhere", () => {
  for (const path of [
    "/../package.json",
    "/..%2fpackage.json",
    "/%2e%2e/package.json",
    "/..%252fpackage.json",
    "/..\\package.json",
    "/%2e%2e%5cpackage.json",
    "/inspector.js%00.html",
    "/inspector.js/../index.html",
    "/index.html",
    "//etc/passwd",
    "//evil.example/inspector.js",
    "/./inspector.js",
    "/INSPECTOR.JS",
    "/inspector.js.map",
    "/file:///etc/passwd",
    "/C:/windows/win.ini",
    "/.git/config",
    "/node_modules/preact/package.json",
    "/proc/self/environ",
    "/api",
    "/api/",
    "/api//clear",
    "/api/../inspector.js",
  ]) {
    it(`finds nothing: ${path}`, async () => {
      expect((await get(path)).status).toBe(404);
    });
  }

  it("finds nothing: an address of another server in the request line", async () => {
    for (const target of ["http://evil.example/", `http://${keys.host}/inspector.js`, "*", `evil.example:443`]) {
      expect([400, 403]).toContain((await get(target)).status);
    }
  });

  it("finds nothing: a tunnel", async () => {
    const answer = await sendRaw(keys.port, requestText("CONNECT", "evil.example:443", [`Host: ${keys.host}`]));
    expect(answer.text).not.toContain("200");
  });

  it("finds nothing: another protocol", async () => {
    const headers = [
      ...actionHeaders(keys, { Origin: keys.origin }),
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
    ];
    const text = `GET /api/events HTTP/1.1\r\n${headers.join("\r\n")}\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${"a".repeat(22)}==\r\n\r\n`;
    expect((await sendRaw(keys.port, text)).status).toBe(400);
    expect((await sendRaw(keys.port, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")).text).not.toContain("200");
  });
});

describe("a name that is no action", () => {
  for (const name of [
    "constructor",
    "toString",
    "__proto__",
    "hasOwnProperty",
    "valueOf",
    "Clear",
    "clear/",
    "clear%00",
    "clear.json",
    "events",
    "spawn",
  ]) {
    it(`does nothing: ${name}`, async () => {
      expect((await post(`/api/${name}`, "{}")).status).toBe(404);
      expect(engine.asked).toEqual([]);
    });
  }

  it("does nothing: an action that is only read", async () => {
    expect((await get("/api/clear")).status).toBe(405);
    expect(engine.asked).toEqual([]);
  });
});

describe("a body that is not what it should be", () => {
  for (const [what, body] of [
    ["empty", ""],
    ["no JSON", "{"],
    ["a list", "[]"],
    ["a text", '"{}"'],
    ["null", "null"],
    ["two values", "{}{}"],
    ["deep lists", `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
    ["deep objects", `${'{"a":'.repeat(200)}1${"}".repeat(200)}`],
    ["deep and cut", '{"a":'.repeat(500_000)],
  ] as const) {
    it(`is refused: ${what}`, async () => {
      expect((await post("/api/clear", body)).status).toBe(400);
      expect(engine.asked).toEqual([]);
    });
  }

  it("is refused: more than 4 MiB, whether its length is stated or not", async () => {
    const body = JSON.stringify({ a: "x".repeat(4 * 1024 * 1024) });
    expect((await post("/api/clear", body)).status).toBe(413);
    const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const headers = [...actionHeaders(keys), "Transfer-Encoding: chunked"];
    const answer = await sendRaw(keys.port, requestText("POST", "/api/clear", headers, chunk)).catch(() => undefined);
    // The connection may be gone before the answer is read.
    expect(answer?.status ?? 413).toBe(413);
    expect(engine.asked).toEqual([]);
  });

  it("changes no prototype", async () => {
    const body = '{"__proto__":{"polluted":1,"connection":"c1"},"constructor":{"prototype":{"polluted":1}}}';
    expect((await post("/api/clear", body)).status).toBe(200);
    const [asked] = engine.asked;
    expect(Object.getPrototypeOf(asked?.input)).toBe(Object.prototype);
    expect(asked?.input).not.toHaveProperty("connection");
    expect({}).not.toHaveProperty("polluted");
  });

  it("is refused: both a length and chunks, by which two readers would see two requests", async () => {
    const hidden = `POST /api/clear HTTP/1.1\r\n${actionHeaders(keys).join("\r\n")}\r\nContent-Length: 2\r\n\r\n{}`;
    for (const framing of [
      [`Content-Length: ${hidden.length}`, "Transfer-Encoding: chunked"],
      ["Transfer-Encoding: chunked", "Content-Length: 4"],
      ["Transfer-Encoding: xchunked"],
      ["Transfer-Encoding: chunked, identity"],
      ["Content-Length: 2", "Content-Length: 40"],
      ["Content-Length: +2"],
      ["Content-Length: 2, 2"],
      ["Content-Length: -1"],
    ]) {
      const headers = [...actionHeaders(keys), ...framing];
      const text = `POST /api/clear HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n0\r\n\r\n${hidden}`;
      const answer = await sendRaw(keys.port, text);
      expect(answer.status).toBe(400);
      expect(engine.asked).toEqual([]);
    }
  });

  it("is refused: headers that are folded, have a space before the colon, or end by a line feed alone", async () => {
    for (const broken of ["X-A: 1\r\n folded", "X-Parley-Token : x", "X-A: a\0b", `X-A: ${"a".repeat(100_000)}`]) {
      const answer = await sendRaw(
        keys.port,
        requestText("POST", "/api/clear", [...actionHeaders(keys), broken, "Content-Length: 2"], "{}"),
      );
      expect([400, 431]).toContain(answer.status);
      expect(engine.asked).toEqual([]);
    }
  });

  it("splits no answer by what a request brings", async () => {
    const answer = await get("/?token=a%0d%0aSet-Cookie:%20planted=1%0d%0a%0d%0a<script>");
    expect(answer.status).toBe(403);
    expect(answer.text).not.toContain("planted");
    expect(answer.headers["set-cookie"]).toBeUndefined();
  });
});

describe("a connection that only takes up room", () => {
  const idle = new ScriptedEngine();
  let impatient: WebServer;
  let own: InspectorKeys;
  beforeAll(async () => {
    // Of its own: every other request would be late there too on a machine that stands still for a moment.
    const limits = { headersMs: 400, requestMs: 800, connections: 16 };
    impatient = await openWebServer(idle, { port: 0, pageFolder: await builtPage(), limits });
    const isOpen = async () => {
      own = await keysOf(impatient.url);
      expect(own.cookie).not.toBe("");
    };
    await vi.waitFor(isOpen, { timeout: 20_000 });
  });
  afterAll(() => impatient.close());

  it("is ended when its headers do not come", async () => {
    const answer = await sendRaw(own.port, "GET / HTTP/1.1\r\nHost: ");
    expect(answer.status).toBe(408);
  });

  it("is ended when its body does not come", async () => {
    const headers = [...actionHeaders(own), "Content-Length: 100"];
    const answer = await sendRaw(own.port, requestText("POST", "/api/clear", headers, '{"a":'));
    expect([0, 408]).toContain(answer.status);
    expect(idle.asked).toEqual([]);
  });

  it("is ended when it sends nothing", async () => {
    expect([0, 408]).toContain((await sendRaw(own.port, "")).status);
  });

  it("is one of a few: further ones are not taken, and the page works when they are gone", async () => {
    const sockets = Array.from({ length: 40 }, () =>
      connect(own.port, "127.0.0.1")
        .on("error", () => undefined)
        .resume(),
    );
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve))));
    const script = () => sendRaw(own.port, requestText("GET", "/inspector.js", actionHeaders(own)));
    await expect.poll(async () => (await script()).status).toBe(200);
  });
});

describe("the network", () => {
  const addresses = Object.values(networkInterfaces())
    .flat()
    .filter((one) => one !== undefined && !one.internal && one.family === "IPv4")
    .map((one) => one?.address ?? "");

  it("reaches neither the page nor the sandbox, by no address of this machine but the loopback", async () => {
    const ports = [keys.port, Number(new URL(engine.sandbox).port)];
    for (const host of [...addresses, "127.0.0.2"]) {
      for (const port of ports) {
        const attempt = sendRaw(port, requestText("GET", "/", [`Host: ${keys.host}`]), host);
        await expect(attempt).rejects.toThrow(/ECONNREFUSED|EADDRNOTAVAIL|EHOSTUNREACH/);
      }
    }
  });
});

describe("the sandbox for apps", () => {
  const ask = (method: string, path: string, host = new URL(engine.sandbox).host) =>
    sendRaw(
      Number(new URL(engine.sandbox).port),
      requestText(method, path, [...actionHeaders(keys, { Host: host }), "Content-Length: 2"], "{}"),
    );

  it("does nothing but show its page", async () => {
    for (const [method, path] of [
      ["POST", "/api/clear"],
      ["GET", "/api/events"],
      ["GET", `/?token=${keys.token}`],
      ["GET", "/inspector.js"],
      ["POST", "/sandbox"],
      ["OPTIONS", "/sandbox"],
      ["GET", "/sandbox/../api/clear"],
    ] as const) {
      const answer = await ask(method, path);
      expect([answer.status, answer.body]).toEqual([404, ""]);
      expect(answer.headers["set-cookie"]).toBeUndefined();
    }
    expect(engine.asked).toEqual([]);
  });

  it("is shown under no other name", async () => {
    for (const host of ["evil.example", `evil.example:${new URL(engine.sandbox).port}`, keys.host]) {
      expect((await ask("GET", "/sandbox", host)).status).toBe(404);
    }
  });
});

describe("headers of answers", () => {
  it("forbid what a page does not need, on every answer", async () => {
    for (const target of ["/", `/?token=${keys.token}`, "/inspector.js", "/nothing", "/api/clear", "/?token=wrong"]) {
      const { headers } = await get(target);
      const policy = headers["content-security-policy"] ?? "";
      for (const directive of [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        `frame-src ${new URL(engine.sandbox).origin}`,
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "object-src 'none'",
        "require-trusted-types-for 'script'",
      ]) {
        expect(policy.split("; ")).toContain(directive);
      }
      expect(policy).not.toMatch(/unsafe|\*|https?:\/\/(?!localhost:)/);
      expect(headers).toMatchObject({
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-store",
      });
      expect(headers["permissions-policy"]).toContain("usb=()");
    }
  });

  it("give a cookie that scripts and other sites cannot use", async () => {
    const { headers } = await get(`/?token=${keys.token}`);
    const [, ...attributes] = (headers["set-cookie"] ?? "").split("; ");
    expect(attributes).toEqual(["HttpOnly", "SameSite=Strict", "Path=/"]);
  });
});
