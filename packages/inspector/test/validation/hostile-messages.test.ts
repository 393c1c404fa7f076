import { REVISIONS } from "@parley/mcp/protocol";
import { describe, expect, it } from "vitest";
import { isBase64, isUri, isUriTemplate, MAX_PROBLEMS, MAX_STEPS } from "../../src/validation/check-shape.js";
import { type CheckedMessage, messageProblems } from "../../src/validation/message-problems.js";

const DEPTH = 10_000;
const ITEMS = 100_000;
/** As many blocks of text as a client accepts in one message: each is three values, and 100,000 are the limit. */
const MOST_BLOCKS = 33_000;

/** An object inside an object, `depth` times. */
function nested(depth: number): object {
  let value: object = {};
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? { inner: value } : [value];
  return value;
}

function result(value: unknown, answers = "tools/call"): Omit<CheckedMessage, "revision"> {
  return { sender: "server", message: { jsonrpc: "2.0", id: 1, result: value }, answers };
}

const resultType = "complete";

describe.each(REVISIONS)("a hostile message of %s", (revision) => {
  it("may be nested as deep as it likes", () => {
    const deep = nested(DEPTH);
    const messages = [
      result({ resultType, content: [], structuredContent: deep, _meta: deep }),
      result({ resultType, content: [deep, { type: "text", text: deep }], isError: deep }),
      result(deep),
      { sender: "client" as const, message: { jsonrpc: "2.0", id: deep, method: "tools/call", params: deep } },
      { sender: "server" as const, message: { jsonrpc: "2.0", id: 1, error: deep } },
      { sender: "server" as const, message: { jsonrpc: "2.0", method: deep, params: deep } },
    ];
    for (const message of messages) messageProblems({ revision, ...message });
    expect(
      messageProblems({ revision, ...result({ resultType, content: deep }) }).problems.map(({ path }) => path),
    ).toEqual(["/result/content/0/type"]);
  });

  it("is examined to the end where it is sound, and no further than the first problems where it is not", () => {
    const sound = Array.from({ length: MOST_BLOCKS }, () => ({ type: "text", text: "a" }));
    expect(messageProblems({ revision, ...result({ resultType, content: sound }) })).toEqual({
      definition: "CallToolResult",
      problems: [],
    });
    const last = result({ resultType, content: [...sound, { type: "text" }] });
    expect(messageProblems({ revision, ...last }).problems).toMatchObject([
      { path: `/result/content/${MOST_BLOCKS}/text` },
    ]);
    let read = 0;
    const broken = Array.from({ length: ITEMS }, () => ({
      get type() {
        read++;
        return "text";
      },
    }));
    expect(messageProblems({ revision, ...result({ resultType, content: broken }) }).problems).toHaveLength(
      MAX_PROBLEMS,
    );
    expect(read).toBeLessThan(ITEMS / 10);
    const capabilities = { experimental: Object.fromEntries(broken.map((_, index) => [`member ${index}`, 1])) };
    const [method, rest] = revision === "2026-07-28" ? ["server/discover", { resultType }] : ["initialize", {}];
    const { problems } = messageProblems({ revision, ...result({ ...rest, capabilities }, method) });
    expect(problems).toHaveLength(MAX_PROBLEMS);
  });

  it("costs a bounded number of steps, and says so where it was not examined to its end", () => {
    let read = 0;
    const counted = {
      type: "text",
      get text() {
        read++;
        return "a";
      },
    };
    const many = new Array(10 * ITEMS).fill(counted);
    const verdict = messageProblems({ revision, ...result({ resultType, content: [{ type: "text" }, ...many] }) });
    expect(verdict).toMatchObject({ isPartial: true, problems: [{ path: "/result/content/0/text" }] });
    expect(read).toBeLessThan(MAX_STEPS);
    const templates = [{ name: "x", uriTemplate: "{a}".repeat(1_000_000) }];
    const hints = revision === "2026-07-28" ? { resultType, ttlMs: 0, cacheScope: "private" } : {};
    const list = result({ ...hints, resourceTemplates: templates }, "resources/templates/list");
    expect(messageProblems({ revision, ...list })).toMatchObject({ isPartial: true, problems: [] });
  });

  it("may have members named like those of every object", () => {
    const names = '{"__proto__": {"content": []}, "constructor": 1, "toString": null, "hasOwnProperty": "x"}';
    const { problems } = messageProblems({ revision, ...result({ resultType, ...JSON.parse(names) }) });
    expect(problems.map(({ path }) => path)).toEqual(["/result/content"]);
    const inherited = Object.assign(Object.create({ content: [] }), { resultType });
    expect(messageProblems({ revision, ...result(inherited) }).problems[0]?.path).toBe("/result/content");
    const method = "constructor";
    for (const id of [1, undefined]) {
      const message = JSON.parse(JSON.stringify({ jsonrpc: "2.0", id, method }));
      expect(messageProblems({ revision, sender: "client", message }).problems).toHaveLength(1);
    }
    for (const answers of ["__proto__", "constructor", "toString"])
      messageProblems({ revision, ...result({}, answers) });
  });

  it("is quoted in part, and without what could disturb a display", () => {
    const text = `\u001b[2J\u202e${"a".repeat(1_000_000)}`;
    const long = messageProblems({ revision, ...result({ resultType, content: [], isError: text }) }).problems[0];
    expect(long?.path).toBe("/result/isError");
    expect(long?.message.length).toBeLessThan(200);
    expect(long?.message).toMatch(/^is the string "\\u001b\[2J\\u202ea+…"; CallToolResult requires a boolean$/);
    const method = messageProblems({ revision, sender: "client", message: { jsonrpc: "2.0", id: 1, method: text } });
    expect(method.problems[0]?.message.length).toBeLessThan(200);
    const members = { [text]: 1, "a/b~c": 1 };
    const rest = { capabilities: { experimental: members }, protocolVersion: revision, resultType };
    const answered = revision === "2026-07-28" ? "server/discover" : "initialize";
    const paths = messageProblems({ revision, ...result(rest, answered) }).problems.map(({ path }) => path);
    expect(paths).toContain("/result/capabilities/experimental/a~1b~0c");
    expect(Math.max(...paths.map((path) => path.length))).toBeLessThan(400);
  });

  it("may be no message at all", () => {
    const strange = [
      null,
      undefined,
      1,
      "text",
      [],
      [{}],
      true,
      {},
      { method: 1, result: 2 },
      () => {},
      Symbol("a"),
      1n,
    ];
    for (const message of strange) {
      // Whatever a peer sent is judged, so that the type promises more than there is.
      const verdict = messageProblems({ revision, sender: "server", message: message as CheckedMessage["message"] });
      expect(verdict).toMatchObject({ definition: "JSONRPCMessage", problems: [{ path: "" }] });
    }
    for (const value of strange) {
      messageProblems({
        revision,
        sender: "client",
        message: { jsonrpc: value, id: value, method: value, params: value },
      });
      messageProblems({ revision, sender: "server", message: { jsonrpc: value, id: value, error: value } });
      messageProblems({ revision, ...result(value) });
      messageProblems({ revision, ...result({ resultType: value, content: value, task: value }) });
    }
  });
});

describe("the formats of strings", () => {
  const MEGABYTES = 20_000_000;

  it("are told on texts of many megabytes", () => {
    expect(isUri(`data:image/png;base64,${"A".repeat(MEGABYTES)}`)).toBe(true);
    expect(isUri(`http://${"a".repeat(MEGABYTES)}`)).toBe(true);
    expect(isUri(`http://${"a:".repeat(MEGABYTES / 2)}`)).toBe(false);
    expect(isUri("a".repeat(MEGABYTES))).toBe(false);
    expect(isUriTemplate("a".repeat(MEGABYTES))).toBe(true);
    expect(isUriTemplate(`{${"a".repeat(MEGABYTES)}}`)).toBe(false);
    expect(isUriTemplate("{a}".repeat(1_000_000))).toBe(true);
    expect(isBase64("A".repeat(MEGABYTES))).toBe(true);
    expect(isBase64(`${"A".repeat(MEGABYTES)}!AAA`)).toBe(false);
  });

  it.each([
    ["https://example.com", true],
    ["https://user:pass@example.com:8080/a/b?c=d#e", true],
    ["file:///C:/a%20b", true],
    ["urn:isbn:0451450523", true],
    ["mailto:a@example.com", true],
    ["note://today", true],
    ["http://[2001:db8::1]:80/", true],
    ["ui://app/page.html", true],
    ["example.com", false],
    ["/a/b", false],
    ["", false],
    ["1a:b", false],
    ["http://a b", false],
    ["http://a/%zz", false],
    ["http://[::1", false],
    ["http://a/[b]", false],
    ["http://a:80b/", false],
    ["http://a@b@c/", false],
    ["a:b#c#d", false],
    ["http://ä.example", false],
  ])("say of the URI %j: %s", (text, sound) => expect(isUri(text)).toBe(sound));

  it.each([
    ["note://{id}", true],
    ["{+path}{?a,b*,c:3}", true],
    ["{a.b}", true],
    ["{a", false],
    ["a}", false],
    ["{}", false],
    ["{a b}", false],
    ["{a..b}", false],
    ["{a:0}", false],
    ["a b", false],
    ["%4", false],
  ])("say of the URI template %j: %s", (text, sound) => expect(isUriTemplate(text)).toBe(sound));

  it.each([
    ["", true],
    ["YQ==", true],
    ["YWI=", true],
    ["YQ", false],
    ["YQ=", false],
    ["Y===", false],
    ["YQ==YQ==", false],
    ["Y-_=", false],
    ["data:image/png;base64,YQ==", false],
  ])("say of the Base64 %j: %s", (text, sound) => expect(isBase64(text)).toBe(sound));
});
