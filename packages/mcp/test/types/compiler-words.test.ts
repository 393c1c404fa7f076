import { describe, expect, it } from "vitest";
import { Compiler } from "./compiler.js";

const known =
  'const server = new Server(info).tool("add", { input: z.object({ n: z.number() }), output: z.object({ m: z.number() }) }, ' +
  '({ n }) => ({ m: n })).tool("hello", () => "hi").add(tool("value", () => "v"), prompt("greet", { arguments: { who: { required: true }, how: {} } }, ' +
  "({ who }) => who));\nconst client = await connect(server);\n";

const compiler = new Compiler({
  shape: 'new Server(info).tool("t", { input: { text: z.string() } }, ({ text }: { text: string }) => text);',
  shapeAsValue: 'const shape = { text: z.string() };\ntool("t", { input: shape }, () => "x");',
  outputShape: 'tool("t", { output: { text: z.string() } }, () => ({ text: "x" }));',
  text: 'new Server(info).tool("t", { input: z.string() }, () => "x");',
  list: 'new Server(info).tool("t", { input: { type: "array" } }, () => "x");',
  anySchema:
    "declare const any: any; declare const read: Record<string, unknown>;\n" +
    'new Server(info).tool("a", { input: any, output: any }, () => "x").tool("b", { input: read }, () => "x")' +
    '.tool("c", { input: z.any(), output: z.string() }, () => "x").tool("d", { input: undefined }, () => "x")' +
    '.tool("e", { input: z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]) }, () => "x")' +
    '.tool("f", { input: z.record(z.string(), z.number()) }, () => "x").tool("g", { input: z.object({}) }, () => "x");',
  generic:
    'import type { AnySchema } from "@parley/mcp";\nexport function both<S extends AnySchema>(input: S, output: S) {\n' +
    '  tool("a", { input, output }, () => null as never);\n  return new Server(info).tool("b", { input }, () => "x")' +
    '.tool("c", async (_args, ctx) => { await ctx.elicit("?", input); });\n}',
  formOfText: 'new Server(info).tool("t", async (_args, ctx) => { await ctx.elicit("?", z.string()); });',
  nestedForm:
    'new Server(info).tool("t", async (_args, ctx) => { await ctx.tryElicit("?", z.object({ a: z.object({ b: z.string() }) })); });',
  form:
    "declare const any: any;\n" +
    'new Server(info).tool("t", async (_args, ctx) => {\n  await ctx.elicit("?", any);\n  await ctx.elicit("?", z.object({ a: z.string(), ' +
    'b: z.number().optional(), c: z.enum(["x"]), d: z.array(z.enum(["p", "q"])), e: z.boolean().default(true), ' +
    'f: z.string().transform((s) => new Date(s)) }));\n  await ctx.elicit("?", { type: "object", properties: ' +
    '{ a: { type: "string" }, b: { type: "array", items: { oneOf: [{ const: "x", title: "X" }] } } } });\n});',
  map: 'new Server(info).tool("t", () => new Map([[1, 2]]));',
  laterSet: 'new Server(info).tool("t", {}, async () => new Set([1]));',
  function: 'new Server(info).tool("t", () => () => 1);',
  results:
    "class Row { id = 1; get name() { return this.id; } }\ninterface Face { a: number }\ndeclare const face: Face;\n" +
    'declare const query: { then: Promise<Face[]>["then"]; [Symbol.toStringTag]: string };\n' +
    'new Server(info).tool("a", () => new Row()).tool("b", async () => [face]).tool("c", () => query).tool("d", () => new Date())' +
    '.tool("e", async () => content.text("x")).tool("f", () => content.result({ structured: face })).tool("g", () => [1, null]);',
  own: 'const server = new Server(info).tool("t", () => server.sessions().length);',
  ownAnnotated:
    'const server = new Server(info).tool("t", (): number => server.sessions().length);\nserver.types.tools.t;',
  ownStatement: 'const server = new Server(info).tool("t", () => { server.listChanged("tools"); });',
  wrongResult: 'new Server(info).tool("t", { output: z.object({ n: z.number() }) }, () => 5);',
  variables: 'new Server(info).resourceTemplate("x://{name}{?page}", {}, (variables) => variables.nam);',
  wrongOption: 'const server = new Server(info).tool("t", () => "x");\nvoid connect(server, { timeout: 3 });',
  wrongValue: 'void connect("http://localhost/mcp", { onElicit: 1 });',
  known,
  callNames: `${known}void client.call("");`,
  promptNames: `${known}void client.getPrompt("");`,
  wrongPrompt: `${known}void client.getPrompt("greet", { how: "loudly" });`,
  statements:
    'const server = new Server(info);\nserver.tool("one", { input: z.object({ a: z.number() }) }, () => "x");\n' +
    'const client = await connect(server);\nconst one = await client.call("one", { b: 1 });\nawait client.call("two");',
  keptLast:
    'const server = new Server(info);\nconst typed = server.tool("one", { input: z.object({ a: z.number() }) }, () => "x");\n' +
    'const client = await connect(typed);\nawait client.call("one", { b: 1 });',
});

/** The one place that the compiler underlines, and what it says there. */
function only(program: string): { at: string; text: string } {
  const [first, ...more] = compiler.errors(program);
  expect(more).toEqual([]);
  return first ?? { at: "", text: "" };
}

describe("a schema that cannot be one", { timeout: 120_000 }, () => {
  it.each(["shape", "shapeAsValue"])("is underlined itself, with the way to write it: %s", (program) => {
    const { at, text } = compiler.errors(program)[0] ?? { at: "", text: "" };
    expect(at).toBe("input");
    expect(text).toContain('"This is an object of schemas, not a schema: write z.object({ … }) around it."');
  });

  it("is so for outputs", () => {
    expect(only("outputShape")).toMatchObject({ at: "output", text: expect.stringContaining("write z.object({ … })") });
  });

  it.each(["text", "list"])("is refused for arguments that are no object: %s", (program) => {
    const { at, text } = only(program);
    expect(at).toBe("input");
    expect(text).toContain('"Arguments need names: write z.object({ … }) with this schema as a property."');
  });

  it.each(["anySchema", "generic"])("is nothing that is known at run time only: %s", (program) => {
    expect(compiler.errors(program)).toEqual([]);
  });
});

describe("a form", { timeout: 120_000 }, () => {
  it.each([
    ["formOfText", "z.string()"],
    ["nestedForm", "z.object({ a: z.object({ b: z.string() }) })"],
  ])("must be flat: %s", (program, underlined) => {
    const { at, text } = only(program);
    expect(at).toBe(underlined);
    expect(text).toContain('"A form is a flat z.object({ … }) of strings, numbers, booleans and enums."');
  });

  it("may be all that can be asked", () => {
    expect(compiler.errors("form")).toEqual([]);
  });
});

describe("the result of a handler", { timeout: 120_000 }, () => {
  it.each([
    ["map", "Map<number, number>"],
    ["laterSet", "Set<number>"],
    ["function", "() => number"],
  ])("is not what JSON cannot hold: %s", (program, type) => {
    expect(only(program).text).toContain(`Type '${type}' is not assignable to type '`);
  });

  it("may be any other object, and what waits like a promise", () => {
    expect(compiler.errors("results")).toEqual([]);
  });

  it("may come from the server itself, if its type is written down", () => {
    expect(compiler.errors("own")[0]?.text).toContain("'server' implicitly has type 'any'");
    expect(compiler.errors("ownAnnotated")).toEqual([]);
    expect(compiler.errors("ownStatement")).toEqual([]);
  });
});

describe("what editors show", { timeout: 120_000 }, () => {
  it("names no type that only helps to compute others", () => {
    expect(only("wrongResult").text).toBe(
      "Type 'number' is not assignable to type '{ n: number; } | ToolResult<{ n: number; }> | Promise<{ n: number; } | ToolResult<{ n: number; }>>'.",
    );
    expect(only("variables").text).toContain("does not exist on type '{ name: string; page?: string; }'");
    const shown = [compiler.hover("known", "server ="), compiler.hover("known", 'tool("add"')].join("\n");
    expect(shown).not.toMatch(/NoInfer|Returned|Offered|NamedValues|CheckedTool/);
  });

  it("is a client with one list of what it knows", () => {
    expect(compiler.hover("known", "client =").replaceAll(/\s+/g, " ")).toBe(
      "const client: Client<{ add: ToolTypes<{ n: number; }, { m: number; }>; hello: ToolTypes<Record<string, never>, string>; " +
        "value: ToolTypes<Record<string, never>, string>; }, { greet: { who: string; how?: string; }; }>",
    );
  });

  it("are the names of tools and prompts", () => {
    expect(compiler.suggestions("callNames")).toEqual(["add", "hello", "value"]);
    expect(compiler.suggestions("promptNames")).toEqual(["greet"]);
    expect(only("wrongPrompt").text).toContain("Property 'who' is missing in type '{ how: string; }'");
  });

  it("is the wrong option of `connect` first", () => {
    expect(only("wrongOption")).toEqual({
      at: "timeout",
      text: "Object literal may only specify known properties, but 'timeout' does not exist in type 'ClientOptions'. Did you mean to write 'timeouts'?",
    });
    expect(only("wrongValue")).toMatchObject({ at: "onElicit", text: expect.stringMatching(/^Type 'number' is not/) });
  });
});

describe("tools that are registered by statements", { timeout: 120_000 }, () => {
  it("are called by any name and arguments, and the value of the last registration is typed", () => {
    expect(compiler.errors("statements")).toEqual([]);
    expect(compiler.hover("statements", "one =")).toBe("const one: unknown");
    expect(only("keptLast").text).toContain("'b' does not exist in type '{ a: number; }'");
  });
});
