import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openWebServer, type WebServer } from "../../src/web/web-server.js";
import { builtPage } from "../kit/built-page.js";
import { actionHeaders, type InspectorKeys, keysOf } from "../kit/inspector-keys.js";
import { type RawAnswer, requestText, sendRaw } from "../kit/raw-http.js";
import { ScriptedEngine } from "../kit/scripted-engine.js";

let engine: ScriptedEngine;
let web: WebServer;
let other: WebServer;
let keys: InspectorKeys;
let otherKeys: InspectorKeys;

beforeAll(async () => {
  engine = new ScriptedEngine();
  web = await openWebServer(engine, { port: 0, pageFolder: await builtPage() });
  other = await openWebServer(new ScriptedEngine(), { port: 0, pageFolder: await builtPage() });
  [keys, otherKeys] = [await keysOf(web.url), await keysOf(other.url)];
});
afterAll(async () => {
  await web.close();
  await other.close();
});
beforeEach(() => {
  engine.asked.length = 0;
});

const BODY = "{}";
const act = (changed: Readonly<Record<string, string | null>>, target = "/api/clear", method = "POST") => {
  const headers = [...actionHeaders(keys, changed), `Content-Length: ${BODY.length}`];
  return sendRaw(keys.port, requestText(method, target, headers, BODY));
};

/** Nothing was done, and nothing allows another origin to read the answer. */
function expectRefused(answer: RawAnswer, statuses: readonly number[]): void {
  expect(statuses).toContain(answer.status);
  expect(engine.asked).toEqual([]);
  expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  expect(answer.text).not.toContain(keys.token);
  expect(answer.text).not.toContain(keys.cookie.split("=")[1]);
}

it("lets the same request through without an attack", async () => {
  expect((await act({})).status).toBe(200);
  expect(engine.asked).toHaveLength(1);
});

describe("a name that was made to point at this machine", () => {
  for (const host of [
    "evil.example",
    "evil.example:PORT",
    "127.0.0.1.evil.example:PORT",
    "localhost.evil.example:PORT",
    "127.0.0.1",
    "localhost",
    "127.0.0.1:1",
    "0.0.0.0:PORT",
    "127.1:PORT",
    "2130706433:PORT",
    "0x7f.0.0.1:PORT",
    "127.0.0.2:PORT",
    "[::1]:PORT",
    "[::ffff:127.0.0.1]:PORT",
    "LOCALHOST:PORT",
    "localhost.:PORT",
    "user@127.0.0.1:PORT",
    "127.0.0.1:PORT, evil.example",
    "127.0.0.1:PORT#",
    "",
  ]) {
    it(`is refused as Host: ${host === "" ? "(empty)" : host}`, async () => {
      // With the origin that fits it, so that the name alone is what is wrong.
      const filled = host.replace("PORT", `${keys.port}`);
      expectRefused(await act({ Host: filled, Origin: `http://${filled}` }), [400, 403]);
    });
  }

  it("does not get the page, nor a hint of it", async () => {
    const headers = [`Host: evil.example:${keys.port}`, `Cookie: ${keys.cookie}`];
    const answer = await sendRaw(keys.port, requestText("GET", `/?token=${keys.token}`, headers));
    expectRefused(answer, [403]);
    expect(answer.body).not.toContain("<");
  });

  it("is refused where no Host is sent at all", async () => {
    expectRefused(await act({ Host: null }), [400]);
    expectRefused(await sendRaw(keys.port, `GET /?token=${keys.token} HTTP/1.0\r\n\r\n`), [403]);
  });

  it("is refused behind a first Host that is right, and before one", async () => {
    for (const hosts of [
      [`Host: ${keys.host}`, "Host: evil.example"],
      ["Host: evil.example", `Host: ${keys.host}`],
      [`Host: ${keys.host}`, `hOST: ${keys.host}`],
    ]) {
      const headers = [...hosts, ...actionHeaders(keys, { Host: null }), "Content-Length: 2"];
      expectRefused(await sendRaw(keys.port, requestText("POST", "/api/clear", headers, BODY)), [400]);
    }
  });
});

describe("a request of a page of another origin", () => {
  for (const origin of [
    "null",
    "https://evil.example",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "https://127.0.0.1:PORT",
    "http://localhost:PORT",
    "http://[::1]:PORT",
    "http://127.0.0.1:PORT.evil.example",
    "http://127.0.0.1:PORT/",
    "HTTP://127.0.0.1:PORT",
    "http://127.0.0.1:PORT http://evil.example",
    "file://",
    "chrome-extension://abcdefghijklmnop",
    "",
  ]) {
    it(`is refused with Origin: ${origin === "" ? "(empty)" : origin}`, async () => {
      expectRefused(await act({ Origin: origin.replace("PORT", `${keys.port}`) }), [403]);
    });
  }

  it("is refused without an Origin, where something would be done", async () => {
    expectRefused(await act({ Origin: null }), [403]);
  });

  it("is refused with two of them", async () => {
    const headers = [...actionHeaders(keys), "Origin: https://evil.example", "Content-Length: 2"];
    expectRefused(await sendRaw(keys.port, requestText("POST", "/api/clear", headers, BODY)), [400]);
  });

  for (const site of ["cross-site", "same-site", "none", "SAME-ORIGIN", "", "same-origin, cross-site"]) {
    it(`is refused with Sec-Fetch-Site: ${site === "" ? "(empty)" : site}`, async () => {
      expectRefused(await act({ "Sec-Fetch-Site": site }), [403]);
    });
  }

  it("cannot read the page by the user's cookie, wherever it would show it", async () => {
    for (const [site, dest] of [
      ["cross-site", "document"],
      ["cross-site", "iframe"],
      ["same-site", "script"],
      ["same-site", "document"],
      ["none", "iframe"],
      ["same-origin", "embed"],
      ["same-origin", "iframe"],
    ] as const) {
      const headers = actionHeaders(keys, { "Sec-Fetch-Site": site, "Sec-Fetch-Dest": dest, "Content-Type": null });
      const answer = await sendRaw(keys.port, requestText("GET", "/", headers));
      expectRefused(answer, [403]);
      expect(answer.body).not.toContain("<script");
    }
  });

  it("cannot follow the events, even with both keys", async () => {
    for (const changed of [{ Origin: "https://evil.example" }, { "Sec-Fetch-Site": "same-site" }]) {
      expectRefused(await act({ "Content-Type": null, ...changed }, "/api/events?from=0", "GET"), [403]);
    }
    expect(engine.followers).toBe(0);
  });

  it("is granted no preflight", async () => {
    const asks = { "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-parley-token" };
    for (const origin of ["https://evil.example", keys.origin]) {
      const answer = await act(
        { ...asks, Origin: origin, "Access-Control-Request-Private-Network": "true" },
        undefined,
        "OPTIONS",
      );
      expectRefused(answer, [405]);
    }
  });

  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/json",
    "application/jsonp",
    null,
  ]) {
    it(`is refused with the content type of a form: ${type ?? "(none)"}`, async () => {
      expectRefused(await act({ "Content-Type": type }), [415]);
    });
  }

  for (const method of ["PUT", "DELETE", "PATCH", "HEAD", "TRACE", "PROPFIND"]) {
    it(`is refused with the method ${method}`, async () => {
      expectRefused(await act({}, "/api/clear", method), [405]);
    });
  }
});

describe("keys that are not both right", () => {
  it("do nothing: the cookie alone", async () => {
    expectRefused(await act({ "X-Parley-Token": null }), [401]);
  });

  it("do nothing: the token alone", async () => {
    expectRefused(await act({ Cookie: null }), [401]);
  });

  it("do nothing: neither", async () => {
    expectRefused(await act({ Cookie: null, "X-Parley-Token": null }), [401]);
  });

  it("do nothing: the token where the cookie belongs, and the other way round", async () => {
    const [name, value] = keys.cookie.split("=");
    expectRefused(await act({ Cookie: `${name}=${keys.token}` }), [401]);
    expectRefused(await act({ "X-Parley-Token": value ?? "" }), [401]);
  });

  it("do nothing: the token in the address, a form or another header", async () => {
    expectRefused(await act({ "X-Parley-Token": null }, `/api/clear?token=${keys.token}`), [401, 404]);
    expectRefused(await act({ "X-Parley-Token": null, Authorization: `Bearer ${keys.token}` }), [401]);
    expectRefused(await act({ "X-Parley-Token": null, Cookie: `${keys.cookie}; token=${keys.token}` }), [401]);
  });

  it("do nothing: those of another inspector on this machine", async () => {
    expectRefused(await act({ Cookie: otherKeys.cookie, "X-Parley-Token": otherKeys.token }), [401]);
    const renamed = otherKeys.cookie.replace(`${otherKeys.port}`, `${keys.port}`);
    expectRefused(await act({ Cookie: renamed }), [401]);
    const page = await sendRaw(keys.port, requestText("GET", `/?token=${otherKeys.token}`, [`Host: ${keys.host}`]));
    expectRefused(page, [403]);
  });

  it("do nothing: a cookie that another port planted, which does not lock the page out either", async () => {
    const [name] = keys.cookie.split("=");
    expectRefused(await act({ Cookie: `${name}=planted` }), [401]);
    expectRefused(await act({ Cookie: `${name}=; ${name}x=${keys.cookie.split("=")[1]}` }), [401]);
    expect((await act({ Cookie: `${name}=planted; ${keys.cookie}` })).status).toBe(200);
  });

  it("do nothing: a part of the token, a longer one, the same in other letters, two at once", async () => {
    const { token } = keys;
    const twice = [...actionHeaders(keys), `X-Parley-Token: ${token}`, "Content-Length: 2"];
    for (const wrong of [
      "",
      token.slice(1),
      token.slice(0, -1),
      `${token}a`,
      token.toUpperCase(),
      `${token},${token}`,
    ]) {
      expectRefused(await act({ "X-Parley-Token": wrong }), [401]);
    }
    expectRefused(await sendRaw(keys.port, requestText("POST", "/api/clear", twice, BODY)), [400]);
  });

  it("do not open the page: a token that is empty, a part, or doubled", async () => {
    for (const query of [
      "token=",
      `token=${keys.token.slice(0, 42)}`,
      `token=x&token=${keys.token}`,
      `TOKEN=${keys.token}`,
    ]) {
      const answer = await sendRaw(keys.port, requestText("GET", `/?${query}`, [`Host: ${keys.host}`]));
      expectRefused(answer, [403]);
      expect(answer.headers["set-cookie"]).toBeUndefined();
    }
  });

  it("are answered with 429 when they are tried too often, and the right ones still open", async () => {
    const guessed = await openWebServer(new ScriptedEngine(), { port: 0, pageFolder: await builtPage() });
    const own = await keysOf(guessed.url);
    const guess = (at: number) =>
      sendRaw(own.port, requestText("GET", `/?token=${at}`, [`Host: ${own.host}`])).then(({ status }) => status);
    const statuses: number[] = [];
    for (let at = 0; at < 25; at++) statuses.push(await guess(at));
    expect(statuses).toEqual([...Array(20).fill(403), ...Array(5).fill(429)]);
    const headers = [...actionHeaders(own, { "X-Parley-Token": "guess" }), "Content-Length: 2"];
    expect((await sendRaw(own.port, requestText("POST", "/api/clear", headers, BODY))).status).toBe(429);
    expect((await keysOf(guessed.url)).cookie).not.toBe("");
    await guessed.close();
  });

  it("are different in every inspector, and of 256 bits each", () => {
    const values = [keys, otherKeys].flatMap(({ token, cookie }) => [token, cookie.split("=")[1] ?? ""]);
    expect(new Set(values).size).toBe(4);
    for (const value of values) expect(Buffer.from(value, "base64url")).toHaveLength(32);
  });
});
