import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Drive, itemsOf, textOf } from "../../../test/server/drive.js";
import { isPlainJson } from "../../encoding/plain-json.js";
import { PreserializedResult } from "../../era/result-text.js";
import type { Revision } from "../../protocol/revisions.js";
import type { JsonSchemaObject } from "../../schema/json-schema/json-schema.js";
import { Server } from "../server.js";
import { audio, image, link, resource, result, text } from "./content.js";

const info = { name: "s", version: "1" };
const REVISIONS: Revision[] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

describe("what a handler returns", () => {
  it("is structured content and its text, when the tool has an output (TOOL-11, TOOL-12)", async () => {
    const server = new Server(info).tool("t", { output: z.object({ n: z.number() }) }, () => ({ n: 1 }));
    expect((await new Drive(server).call("t")).result).toMatchObject({
      content: [{ type: "text", text: '{"n":1}' }],
      structuredContent: { n: 1 },
    });
  });

  it("is text without an output: a string as it is, anything else as JSON", async () => {
    const values = ["plain", { a: [1] }, 5, true, null, [1, 2], []];
    const server = new Server(info).tool("t", { input: z.object({ i: z.number() }) }, ({ i }) => values[i] as object);
    const drive = new Drive(server);
    const texts = await Promise.all(values.map(async (_, i) => textOf(await drive.call("t", { i }))));
    expect(texts).toEqual(["plain", '{"a":[1]}', "5", "true", "null", "[1,2]", "[]"]);
  });

  it("is content, when builders made it; an object that only looks like a block is data (TOOL-10)", async () => {
    const server = new Server(info)
      .tool("all", {}, () => [
        text("t"),
        image(new Uint8Array([1, 2]), "image/png"),
        audio("AAAA", "audio/wav"),
        resource("file:///a", "body", { mimeType: "text/plain" }),
        link("file:///b", { title: "B" }),
      ])
      .tool("lookalike", {}, () => ({ type: "text", text: "data" }))
      .tool("nothing", {}, () => undefined);
    const drive = new Drive(server);
    expect((await drive.call("all")).result?.content).toEqual([
      { type: "text", text: "t" },
      { type: "image", data: "AQI=", mimeType: "image/png" },
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "file:///a", mimeType: "text/plain", text: "body" } },
      { type: "resource_link", uri: "file:///b", title: "B", name: "file:///b" },
    ]);
    expect(textOf(await drive.call("lookalike"))).toBe('{"type":"text","text":"data"}');
    expect((await drive.call("nothing")).result?.content).toEqual([]);
  });

  it("is judged as JSON keeps it, so that what is checked is what is sent", async () => {
    const output = { type: "object", properties: { at: { type: "string" } }, additionalProperties: false } as const;
    const server = new Server(info)
      .tool("date", { output }, () => ({ at: new Date(0), left: undefined }) as never)
      .tool("extra", { output }, () => ({ at: "x", more: 1 }) as never)
      .tool("nan", { output: { type: "object", properties: { n: { type: "number" } } } }, () => ({ n: Number.NaN }));
    const drive = new Drive(server);
    expect((await drive.call("date")).result?.["structuredContent"]).toEqual({ at: "1970-01-01T00:00:00.000Z" });
    expect((await drive.call("extra")).error?.message).toContain(
      'the result of tool "extra" does not fit its output schema',
    );
    expect((await drive.call("nan")).error?.code).toBe(-32603);
  });

  it("is refused by its path where JSON would drop or change it in silence", async () => {
    function* steps() {
      yield 1;
    }
    class Hidden {
      readonly #secret = 1;
      get secret() {
        return this.#secret;
      }
    }
    const self: Record<string, unknown> = {};
    self["it"] = self;
    const values: [unknown, string][] = [
      [new Map([["a", 1]]), "returned a value of type Map,"],
      [new Set([1]), "returned a value of type Set,"],
      [new Error("x"), "returned a value of type Error,"],
      [Object.assign(new Error("x"), { code: "E" }), "returned a value of type Error,"],
      [new Response("x"), "returned a value of type Response,"],
      [steps(), "returned a value of type Generator,"],
      [new Hidden(), "returned a value of type Hidden,"],
      [new Uint8Array([1]), "returned a value of type Uint8Array,"],
      [Buffer.from("x"), "returned a value of type Uint8Array,"],
      [Number.NaN, "returned NaN,"],
      [{ n: [1n] }, "returned a value of type bigint at /n/0,"],
      [{ self }, "returned a cycle at /self/it,"],
      [{ at: new Date("never") }, "returned an invalid Date at /at,"],
      [{ a: { m: new Map() } }, "returned a value of type Map at /a/m,"],
      [{ list: [1, Number.POSITIVE_INFINITY] }, "returned Infinity at /list/1,"],
      [[1, undefined], "returned undefined at /1,"],
      [{ run: () => 1 }, "returned a value of type function at /run,"],
    ];
    const input = z.object({ i: z.number() });
    const server = new Server(info)
      .tool("loose", { input }, ({ i }) => values[i]?.[0] as object)
      .tool("json", { input, output: {} }, ({ i }) => values[i]?.[0] as object)
      .tool("library", { input, output: z.any() }, ({ i }) => values[i]?.[0])
      .tool("full", { input }, ({ i }) => result({ structured: values[i]?.[0] }));
    const drive = new Drive(server);
    for (const name of ["loose", "json", "library", "full"]) {
      for (const [i, [, message]] of values.entries()) {
        expect((await drive.call(name, { i })).error?.message).toBe(
          `the tool "${name}" ${message} which JSON cannot represent`,
        );
      }
    }
  });

  it("keeps what JSON holds: dates, absent members, class instances with fields, objects without a prototype", async () => {
    class Point {
      x = 1;
    }
    const values = [{ at: new Date(0), left: undefined }, new Point(), Object.create(null), {}, [], new URL("a://b")];
    const server = new Server(info).tool("t", { input: z.object({ i: z.number() }) }, ({ i }) => values[i] as object);
    const drive = new Drive(server);
    const texts = await Promise.all(values.map(async (_, i) => textOf(await drive.call("t", { i }))));
    expect(texts).toEqual(values.map((value) => JSON.stringify(value)));
  });

  it("may be a result as the official SDK has it, which is not encoded twice", async () => {
    const content = [{ type: "text" as const, text: "hi" }];
    const output = z.object({ n: z.number() });
    const server = new Server(info)
      .tool("plain", {}, () => ({ content }))
      .tool("failed", {}, () => ({ content, isError: true, _meta: { "a.test/b": 1 } }))
      .tool("structured", { output }, () => ({ content, structuredContent: { n: 1 } }) as never)
      .tool("failed with output", { output }, () => ({ content, isError: true }) as never)
      .tool("data", {}, () => ({ content, more: 1 }))
      .tool("other data", {}, () => ({ content: ["hi"] }))
      .tool("described", { output: { required: ["content"] } }, () => ({ content }));
    const drive = new Drive(server);
    const results = async (name: string) => (await drive.call(name)).result;
    expect(await results("plain")).toMatchObject({ content });
    expect(await results("failed")).toMatchObject({ content, isError: true, _meta: { "a.test/b": 1 } });
    expect(await results("structured")).toMatchObject({ content, structuredContent: { n: 1 } });
    expect(await results("failed with output")).toMatchObject({ content, isError: true });
    expect(textOf(await drive.call("data"))).toBe(JSON.stringify({ content, more: 1 }));
    expect(textOf(await drive.call("other data"))).toBe('{"content":["hi"]}');
    expect(await results("described")).toMatchObject({ structuredContent: { content } });
  });

  it("loses fields that the schema's library drops", async () => {
    const server = new Server(info).tool("t", { output: z.object({ a: z.number() }) }, () => ({ a: 1, secret: 2 }));
    expect((await new Drive(server).call("t")).result?.["structuredContent"]).toEqual({ a: 1 });
  });

  it("may be nothing only where there is no output", async () => {
    const server = new Server(info).tool("t", { output: {} }, () => undefined as never);
    expect((await new Drive(server).call("t")).error?.message).toContain("returned undefined");
  });

  it("may be a full result: content beside structure, a failure, metadata", async () => {
    const output = z.object({ n: z.number() });
    const server = new Server(info)
      .tool("both", { output }, () => result({ content: [text("one")], structured: { n: 1 }, _meta: { a: 1 } }))
      .tool("failed", { output }, () => result({ content: [text("sorry")], isError: true }))
      .tool("list", { output: z.array(z.number()) }, () =>
        result({ content: [image("AA==", "image/png")], structured: [1] }),
      )
      .tool("loose", {}, () => result({ structured: { free: true } }));
    const drive = new Drive(server);
    expect((await drive.call("both")).result).toMatchObject({
      content: [{ type: "text", text: "one" }],
      structuredContent: { n: 1 },
      _meta: { a: 1 },
    });
    const failed = await drive.call("failed");
    expect(failed.result).toMatchObject({ isError: true, content: [{ text: "sorry" }] });
    expect(failed.result).not.toHaveProperty("structuredContent");
    expect((await drive.call("list")).result?.content?.[1]).toEqual({ type: "text", text: "[1]" });
    expect((await drive.call("loose")).result).toMatchObject({
      content: [{ type: "text", text: '{"free":true}' }],
      structuredContent: { free: true },
    });
  });
});

describe("output of any JSON value (TOOL-05, TOOL-12)", () => {
  const values: [string, JsonSchemaObject, unknown][] = [
    ["a list", { type: "array", items: { type: "number" } }, [1, 2]],
    ["null", { type: "null" }, null],
    ["a number", { type: "number" }, 7],
    ["text", { type: "string" }, "x"],
    ["an object", { type: "object" }, { a: 1 }],
  ];
  for (const [what, output, value] of values) {
    it(`is ${what} as it is in the newest revision, wrapped where only objects are allowed, and text before that`, async () => {
      const server = new Server(info).tool("t", { output }, () => value as never);
      for (const revision of REVISIONS) {
        const drive = new Drive(server, { revision });
        const { result } = await drive.call("t");
        expect(result?.content).toEqual([{ type: "text", text: JSON.stringify(value) }]);
        const [listed] = itemsOf<{ outputSchema?: { type?: string } }>(await drive.send("tools/list"), "tools");
        if (revision < "2025-06-18") {
          expect(result).not.toHaveProperty("structuredContent");
          expect(listed).not.toHaveProperty("outputSchema");
        } else if (revision < "2026-07-28") {
          const wrapped = what === "an object" ? value : { result: value };
          expect(result?.["structuredContent"]).toEqual(wrapped);
          expect(listed?.outputSchema?.type).toBe("object");
        } else {
          expect(result?.["structuredContent"]).toEqual(value);
          expect(listed?.outputSchema).toEqual(output);
        }
      }
    });
  }
});

describe("the text that is written once", () => {
  const structured = { a: 'quote " and \\ and é', b: [1, null, { c: "\u2028" }] };

  it("is the JSON of the result", () => {
    const written = new PreserializedResult(structured, JSON.stringify(structured));
    expect(PreserializedResult.textOf(written)).toBe(JSON.stringify(written));
    for (const other of [{ ...written }, Object.create(written), null, "x"]) {
      expect(PreserializedResult.textOf(other)).toBeUndefined();
    }
  });

  it("gives the same answers as writing the result afresh, in every revision", async () => {
    const build = () => new Server(info).tool("t", { output: { type: "object" } }, () => structured);
    for (const revision of REVISIONS) {
      const direct = await new Drive(build(), { revision }).call("t");
      const afresh = await new Drive(
        build().use((_call, next) => next()),
        { revision },
      ).call("t");
      expect(direct.answer.text).toBe(afresh.answer.text);
    }
  });

  it("is never sent in place of what middleware made of the result", async () => {
    const server = new Server(info)
      .tool("t", { output: { type: "object" } }, () => ({ secret: 1 }))
      .use(async (_call, next) => {
        const answer = (await next()) as { structuredContent?: { secret?: number } };
        delete answer.structuredContent?.secret;
        return answer;
      });
    expect((await new Drive(server).call("t")).result?.["structuredContent"]).toEqual({});
  });

  it("knows which values JSON keeps as they are", () => {
    const kept = [1, "a", null, true, [], {}, { a: [{ b: null }] }, Object.create(null)];
    const changed = [
      undefined,
      Number.NaN,
      1n,
      new Date(),
      { a: undefined },
      [undefined],
      new Array(1),
      { toJSON: () => 1 },
      {
        get a() {
          return 1;
        },
      },
      new (class A {})(),
      Object.assign(Object.create({ inherited: 1 }), {}),
      new Map(),
    ];
    expect(kept.map((value) => isPlainJson(value))).toEqual(kept.map(() => true));
    expect(changed.map((value) => isPlainJson(value))).toEqual(changed.map(() => false));
  });
});
