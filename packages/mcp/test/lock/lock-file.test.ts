import { Server } from "@parley/mcp";
import { compareLock, driftText, lockOf, readLock, type ServerLock, visibleText, writeLock } from "@parley/mcp/lock";
import { describe, expect, it } from "vitest";
import { pullRug, reach, shop, WAYS } from "./pinned-server.js";

async function locked(server: Server, way: (typeof WAYS)[number] = WAYS[1]): Promise<ServerLock> {
  const { client, close } = await reach(server, way);
  try {
    return await lockOf(client);
  } finally {
    await close();
  }
}

/** A server whose one tool is listed exactly as given. */
async function lockedTool(entry: Record<string, unknown>): Promise<ServerLock> {
  const server = new Server({ name: "s", version: "1" }).tool("t", {}, () => "");
  const { client, close } = await reach(server, WAYS[1]);
  client.use(async (call, next) => {
    const result = await next();
    return call.method === "tools/list" ? { ...result, tools: [{ name: "t", ...entry }] } : result;
  });
  try {
    return await lockOf(client);
  } finally {
    await close();
  }
}

const SCHEMA = {
  type: "object",
  properties: {
    size: { enum: ["s", "m"], description: "How large" },
    city: { type: ["string", "null"], anyOf: [{ minLength: 2 }, { const: "x" }] },
  },
  required: ["size", "city"],
};

describe("what counts as drift", () => {
  const base = { description: "Finds goods by a word", inputSchema: SCHEMA, annotations: { readOnlyHint: true } };

  it.each([
    [
      "members in another order",
      { annotations: { readOnlyHint: true }, inputSchema: SCHEMA, description: base.description },
    ],
    ["white space of another width", { ...base, description: "  Finds goods\n   by a\tword \r\n" }],
    [
      "lists that are sets in another order",
      {
        ...base,
        inputSchema: {
          required: ["city", "size"],
          properties: {
            city: { anyOf: [{ const: "x" }, { minLength: 2 }], type: ["null", "string"] },
            size: { description: "How large", enum: ["m", "s"] },
          },
          type: "object",
        },
      },
    ],
    ["what is not pinned", { ...base, _meta: { seen: 1 }, icons: [{ src: "https://example.com/a.png" }] }],
  ])("not: %s", async (_what, changed) => {
    expect(compareLock(await lockedTool(base), await lockedTool(changed))).toEqual([]);
  });

  it.each([
    ["a description", { ...base, description: "Finds goods by a word!" }, "description"],
    [
      "a description by a character that cannot be seen",
      { ...base, description: `${base.description}\u200b` },
      "description",
    ],
    ["a description by another kind of space", { ...base, description: "Finds goods by a\u00a0word" }, "description"],
    ["a title", { ...base, title: "Find" }, "title"],
    ["an annotation", { ...base, annotations: { readOnlyHint: false } }, "annotations.readOnlyHint"],
    ["annotations that are gone", { ...base, annotations: undefined }, "annotations"],
    [
      "a type of an argument",
      { ...base, inputSchema: { ...SCHEMA, properties: { ...SCHEMA.properties, city: {} } } },
      "inputSchema.properties.city.anyOf",
    ],
    ["what is required", { ...base, inputSchema: { ...SCHEMA, required: ["size"] } }, "inputSchema.required"],
    ["an output schema", { ...base, outputSchema: { type: "object" } }, "outputSchema"],
    [
      "white space inside a value",
      { ...base, inputSchema: { ...SCHEMA, properties: { a: { const: "a  b" } } } },
      "inputSchema.properties.a",
    ],
  ])("yes: %s", async (_what, changed, path) => {
    const [difference, ...more] = compareLock(await lockedTool(base), await lockedTool(changed));
    expect(more).toEqual([]);
    expect(difference).toMatchObject({ kind: "tool", name: "t", change: "changed" });
    expect(difference?.fields.map((field) => field.path)).toContain(path);
  });

  it("tells white space in values apart, and names that every object inherits", async () => {
    const of = (value: string) => ({
      ...base,
      inputSchema: { type: "object", properties: { toString: { const: value } } },
    });
    expect(compareLock(await lockedTool(of("a b")), await lockedTool(of("a  b")))).toHaveLength(1);
    const odd = new Server({ name: "s", version: "1" }).tool("constructor", {}, () => "");
    expect(compareLock(await locked(new Server({ name: "s", version: "1" })), await locked(odd))).toMatchObject([
      { kind: "tool", name: "constructor", change: "added" },
    ]);
  });
});

describe("the text of a difference", () => {
  it("shows what came, went and changed, before and after", async () => {
    const server = shop();
    const before = await locked(server);
    pullRug(server, "Buys goods\u202e\u{e0041}\u001b[2J");
    server.remove("prompt", "greet");
    server.tool("more", { description: "New" }, () => "");
    expect(driftText(compareLock(before, await locked(server)))).toBe(
      [
        'changed tool "buy"',
        "  description",
        "    - Buys goods",
        "    + Buys goods<U+202E><U+E0041><U+001B>[2J",
        'added tool "more"',
        "  description",
        "    + New",
        "  inputSchema",
        '    + {"additionalProperties":false,"type":"object"}',
        'removed prompt "greet"',
        "  arguments",
        '    - {"name":{"name":"name"}}',
        "  description",
        "    - Greets",
      ].join("\n"),
    );
  });

  it("spells every character that cannot be seen", () => {
    expect(visibleText("a\u200b\u00ad\u3164\u2800\ufe0f\u00a0\ufeff\n\ud800 b")).toBe(
      "a<U+200B><U+00AD><U+3164><U+2800><U+FE0F><U+00A0><U+FEFF><U+000A><U+D800> b",
    );
    expect(visibleText("naïve 漢字 🙂")).toBe("naïve 漢字 🙂");
  });
});

describe("a lock file", () => {
  it("is the same text for the same server, whatever way it was reached, and is read back", async () => {
    const texts = await Promise.all(WAYS.map(async (way) => writeLock({ shop: await locked(shop(), way) })));
    expect(new Set(texts).size).toBe(1);
    const [text = ""] = texts;
    expect(text.endsWith("}\n")).toBe(true);
    expect(compareLock(readLock(text).servers["shop"] as ServerLock, await locked(shop()))).toEqual([]);
  });

  it("spells characters that a review would not show", async () => {
    const server = shop();
    pullRug(server, "Buys\u200b goods\u{e0041}");
    const text = writeLock({ shop: await locked(server) });
    expect(text).toContain("Buys\\u200b goods\\udb40\\udc41");
    expect(compareLock(readLock(text).servers["shop"] as ServerLock, await locked(server))).toEqual([]);
  });

  it("holds several servers in the order of their names", async () => {
    const lock = await locked(shop());
    expect(writeLock({ b: lock, a: lock })).toBe(writeLock({ a: lock, b: lock }));
    expect(Object.keys(readLock(writeLock({ b: lock, a: lock })).servers)).toEqual(["a", "b"]);
  });

  it("is refused if a definition was changed by hand, and the error says which", async () => {
    const text = writeLock({ shop: await locked(shop()) });
    expect(() => readLock(text.replace("Buys goods", "Gives goods"))).toThrow(
      "the definition of servers.shop.tools.buy does not match its digest",
    );
    expect(() => readLock(text.replace(/sha256-..../, "sha256-0000"))).toThrow("does not match its digest");
  });

  it.each([
    ["", "it is not JSON"],
    ["[]", "it has no `lockfileVersion`"],
    ['{"lockfileVersion":2,"servers":{}}', "it has version 2, but this program reads version 1"],
    ['{"lockfileVersion":1}', "it has no `servers`"],
    ['{"lockfileVersion":1,"servers":{"a":5}}', "servers.a is not the lock of a server"],
    ['{"lockfileVersion":1,"servers":{"a":{}}}', "servers.a.server has no digest and definition"],
  ])("is refused with its fault: %s", (text, fault) => {
    expect(() => readLock(text)).toThrow(fault);
  });
});
