import { connect, content, Server, tool } from "@parley/mcp";
import { toJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod3";

const info = { name: "types", version: "1" };
const output = z.object({ kind: z.enum(["a", "b"]), n: z.number() });

// The compiler is the judge here: `tsc` fails when an expected error does not occur. The run shows that nothing throws.
describe("what the compiler accepts", () => {
  it("is a handler without an output that returns nothing", async () => {
    const server = new Server(info)
      .tool("nothing", () => {})
      .tool("later", {}, async () => {})
      .tool("perhaps", { input: z.object({ a: z.boolean() }) }, ({ a }) => (a ? "text" : undefined));
    const client = await connect(server);
    expect(await client.call("nothing")).toBe("");
    expect(await client.call("later")).toBe("");
    expect(await client.call("perhaps", { a: false })).toBe("");
  });
});

describe("what the compiler refuses", () => {
  it("is a missing, wrong or misspelt structured output", () => {
    const server = new Server(info)
      .tool("right", { output }, () => ({ kind: "a", n: 1 }))
      .tool("full", { output }, () => content.result({ structured: { kind: "b", n: 2 } }))
      .tool("async", { output }, async () => ({ kind: "b", n: 2 }))
      // @ts-expect-error a value of the wrong type
      .tool("wrong", { output }, () => ({ kind: "a", n: "1" }))
      // @ts-expect-error a word that the enum does not have
      .tool("enum", { output }, () => ({ kind: "c", n: 1 }))
      // @ts-expect-error a missing member
      .tool("missing", { output }, async () => ({ kind: "a" }))
      // @ts-expect-error nothing at all
      .tool("nothing", { output }, () => {});
    expect(server.endpoint()).toBeDefined();
  });

  it("is an argument that the input schema does not have", () => {
    new Server(info).tool("t", { input: z.object({ city: z.string() }) }, (args) => {
      expectTypeOf(args).toEqualTypeOf<{ city: string }>();
      // @ts-expect-error there is no such argument
      return args.town;
    });
  });

  it("is a call by a wrong name, with wrong arguments, or for a wrong result", async () => {
    const server = new Server(info)
      .tool(
        "add",
        { input: z.object({ a: z.number(), b: z.number() }), output: z.object({ sum: z.number() }) },
        ({ a, b }) => ({ sum: a + b }),
      )
      .tool("hello", {}, () => "hi")
      .add(
        tool("value", { input: z.object({ x: z.string().optional() }), output: z.object({ y: z.boolean() }) }, () => ({
          y: true,
        })),
      );
    const client = await connect(server);
    expectTypeOf(await client.call("add", { a: 1, b: 2 })).toEqualTypeOf<{ sum: number }>();
    expectTypeOf(await client.call("hello")).toEqualTypeOf<string>();
    expectTypeOf(await client.call("value")).toEqualTypeOf<{ y: boolean }>();
    const compiledOnly = async () => {
      // @ts-expect-error no such tool
      await client.call("subtract", {});
      // @ts-expect-error an argument is missing
      await client.call("add", { a: 1 });
      // @ts-expect-error arguments are needed
      await client.call("add");
      // @ts-expect-error the result has no such member
      (await client.call("add", { a: 1, b: 2 })).difference;
      const remote = await connect<typeof server>("http://localhost/mcp");
      expectTypeOf(await remote.call("add", { a: 1, b: 2 })).toEqualTypeOf<{ sum: number }>();
      const loose = await connect("http://localhost/mcp");
      expectTypeOf(await loose.call("anything", { at: "all" })).toEqualTypeOf<unknown>();
    };
    expect(compiledOnly).toBeTypeOf("function");
    await client.close();
  });
});

describe("every kind of schema", () => {
  it("types the arguments: zod 4 and 3, valibot, arktype, plain JSON Schema", async () => {
    const server = new Server(info, { toJsonSchema: (schema, options) => adapt(schema, options) })
      .tool("zod", { input: z.object({ n: z.number() }) }, ({ n }) => n.toFixed())
      .tool("zod3", { input: z3.object({ n: z3.number() }) }, ({ n }) => n.toFixed())
      .tool("valibot", { input: v.object({ n: v.number() }) }, ({ n }) => n.toFixed())
      .tool("arktype", { input: type({ n: "number" }) }, ({ n }) => n.toFixed())
      .tool(
        "json",
        { input: { type: "object", properties: { n: { type: "number" }, s: { type: "string" } }, required: ["n"] } },
        ({ n, s }) => {
          expectTypeOf(n).toEqualTypeOf<number>();
          expectTypeOf(s).toEqualTypeOf<string | undefined>();
          return n.toFixed();
        },
      );
    const client = await connect(server);
    for (const name of ["zod", "zod3", "valibot", "arktype", "json"] as const) {
      expect(await client.call(name, { n: 7 })).toBe("7");
      expect((await client.callTool(name, { n: "x" })).isError).toBe(true);
    }
    await client.close();
  });
});

/** Valibot brings a converter; zod 3 has none here, so its one schema is said by hand. */
function adapt(schema: v.GenericSchema, _options: unknown): unknown {
  if ((schema as { kind?: string }).kind === "schema") return toJsonSchema(schema);
  return { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
}
