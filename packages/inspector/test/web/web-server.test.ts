import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openWebServer, type WebServer } from "../../src/web/web-server.js";
import { builtPage } from "../kit/built-page.js";
import { actionHeaders, type InspectorKeys, keysOf } from "../kit/inspector-keys.js";
import { requestText, sendRaw } from "../kit/raw-http.js";
import { ScriptedEngine } from "../kit/scripted-engine.js";

let engine: ScriptedEngine;
let web: WebServer;
let keys: InspectorKeys;

beforeEach(async () => {
  engine = new ScriptedEngine();
  web = await openWebServer(engine, { port: 0, pageFolder: await builtPage() });
  keys = await keysOf(web.url);
});
afterEach(() => web.close());

const get = (path: string, headers: readonly string[] = [`Host: ${keys.host}`]) =>
  sendRaw(keys.port, requestText("GET", path, headers));
const post = (name: string, body: string, headers = actionHeaders(keys)) =>
  sendRaw(keys.port, requestText("POST", `/api/${name}`, [...headers, `Content-Length: ${body.length}`], body));

describe("the web server", () => {
  it("gives the page to who has the token, and a cookie with it", async () => {
    const answer = await get(`/?token=${keys.token}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toContain('<script type="module" src="inspector.js">');
    expect(keys.cookie).toMatch(new RegExp(`^parley-inspector-${keys.port}=[\\w-]{43}$`));
    expect(keys.cookie).not.toContain(keys.token);
  });

  it("gives the page and its files to who has the cookie", async () => {
    for (const [path, type] of [
      ["/", "text/html"],
      ["/inspector.js", "text/javascript"],
      ["/inspector.css", "text/css"],
    ] as const) {
      const answer = await get(path, [`Host: ${keys.host}`, `Cookie: other=1; ${keys.cookie}`]);
      expect([answer.status, answer.headers["content-type"]]).toEqual([200, `${type}; charset=utf-8`]);
    }
  });

  it("can be opened by the name localhost too", async () => {
    expect((await get(`/?token=${keys.token}`, [`Host: localhost:${keys.port}`])).status).toBe(200);
  });

  it("says how to come in to who has neither", async () => {
    const answer = await get("/");
    expect(answer.status).toBe(403);
    expect(answer.body).toContain("Open the address that the terminal printed");
  });

  it("does an action, and answers with what it gives", async () => {
    const answer = await post("clear", '{"a":["[{\\"",1]}');
    expect([answer.status, answer.body]).toEqual([200, '{"ok":true,"value":{}}']);
    expect(engine.asked).toEqual([{ name: "clear", input: { a: ['[{"', 1] } }]);
  });

  it("answers an action that fails with the problem", async () => {
    const answer = await post("entry", '{"seq":5}');
    expect(JSON.parse(answer.body)).toEqual({
      ok: false,
      problem: { message: "there is no such entry", fix: "Choose another.", kind: "invalid_params" },
    });
  });

  it("takes a recording of more bytes than any other input", async () => {
    const text = JSON.stringify({ text: "x".repeat(5 * 1024 * 1024), name: "a" });
    expect((await post("importSession", text)).status).toBe(200);
    expect((await post("clear", text)).status).toBe(413);
  });

  it("rejects with what to do where the port is taken, and leaves nothing behind", async () => {
    const second = openWebServer(new ScriptedEngine(), { port: keys.port, pageFolder: await builtPage() });
    await expect(second).rejects.toMatchObject({ kind: "misuse", fix: expect.stringContaining("another port") });
  });

  it("rejects with what to do where the page is not there", async () => {
    const opening = openWebServer(engine, { port: 0, pageFolder: "/nonexistent" });
    await expect(opening).rejects.toMatchObject({ kind: "invalid_definition" });
  });

  it("tells the engine where the sandbox is, which another origin serves", async () => {
    const sandbox = new URL(engine.sandbox);
    const answer = await sendRaw(Number(sandbox.port), requestText("GET", "/sandbox", [`Host: ${sandbox.host}`]));
    expect(answer.status).toBe(200);
    expect(answer.headers["content-security-policy"]).toBe(
      `frame-ancestors http://127.0.0.1:${keys.port} http://localhost:${keys.port}`,
    );
    expect(sandbox.origin).not.toBe(keys.origin);
  });
});
