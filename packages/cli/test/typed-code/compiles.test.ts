import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixtureTools } from "../../../mcp/test/host/search/tool-fixture.js";
import { moduleText } from "../../src/typed-code/module-text.js";
import { typedModule } from "../../src/typed-code/typed-module.js";
import { server as fixture } from "../fixtures/fixture-server.js";
import { runParley } from "../kit/run-parley.js";
import { hostileOffers } from "./hostile-offers.js";
import { COMPILERS, TypeScriptProject } from "./typescript-project.js";

const everything = resolve(
  import.meta.dirname,
  "../../../mcp/test/peers/node_modules/@modelcontextprotocol/server-everything/dist/index.js",
);
const built = existsSync(new URL("../../../mcp/dist/index.d.ts", import.meta.url));

if (!built) console.log("no generated code was compiled: the library is not built, see `npm run build`");

function serverOf200Tools(): Server {
  const server = new Server({ name: "many", version: "1.0.0" });
  for (const { name, description, inputSchema } of fixtureTools(200)) {
    server.tool(name, { description, input: inputSchema }, () => "done");
  }
  return server;
}

/** Schemas whose types a compiler could find circular, too deep or too wide. */
function shapes() {
  const wide = (letter: string) => ({ enum: Array.from({ length: 300 }, (_, at) => `${letter}${at}`) });
  const ref = (name: string) => ({ $ref: `#/$defs/${name}` });
  const json = {
    anyOf: [{ type: "string" }, { type: "array", items: ref("json") }, { additionalProperties: ref("json") }],
  };
  const tree = {
    type: "object",
    properties: { left: ref("tree"), right: { allOf: [ref("tree"), { required: ["key"] }] } },
  };
  const round = {
    a: { anyOf: [ref("b"), ref("c")] },
    b: { allOf: [ref("a"), ref("c")] },
    c: { oneOf: [ref("a"), ref("b")] },
  };
  const rooms = {
    x: { anyOf: [wide("x"), tree] },
    y: { anyOf: [wide("y"), tree] },
    z: { anyOf: [wide("z"), tree] },
    tree,
  };
  const schemas = {
    json: { properties: { value: ref("json") }, $defs: { json } },
    tree: { ...tree, $defs: { tree } },
    round: { properties: { a: ref("a"), b: ref("b"), c: ref("c") }, $defs: round },
    rounded: { ...ref("b"), $defs: round },
    wide: { properties: { all: { allOf: [ref("x"), ref("y"), ref("z")] } }, $defs: rooms },
    tuple: {
      properties: { pair: { prefixItems: [{ type: "string" }, ref("self")] } },
      $defs: { self: { items: ref("self") } },
    },
    itself: { properties: { again: { $ref: "#" } } },
  };
  return Object.entries(schemas).map(([name, schema]) => ({
    name,
    inputSchema: { ...schema, type: "object" as const },
    outputSchema: { ...schema, type: "object" as const },
  }));
}

/** What a program may do with the fixture's module, and what the compiler must refuse. */
const usage = (from: string) => `
import { connect, Server } from "@parley/mcp";
import { add, echo, fail, noteResource, type RemoteClient, type RemoteServer, reviewPrompt, type Tools } from "${from}";

const loose = await connect("http://127.0.0.1:1/mcp");
const typed: RemoteClient = await connect<RemoteServer>("http://127.0.0.1:1/mcp");
const local = await connect(new Server({ name: "own", version: "1" }).tool("fail", () => "text"));
const schema = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] } as const;
const other = await connect(new Server({ name: "own", version: "1" }).tool("add", { output: schema }, () => ({ sum: 1 })));
export const sums: number[] = [
  (await add(loose, { a: 1, b: 2 })).sum,
  (await add(typed, { a: 1, b: 2 }, { signal: AbortSignal.timeout(1) })).sum,
  (await typed.call("add", { a: 1, b: 2 })).sum,
  (await add(other, { a: 1, b: 2 })).sum,
];
export const texts: string[] = [await echo(loose, { text: "x" }), await fail(typed), await fail(local, {})];
export const tools: (keyof Tools)[] = ["add", "slow"];
await reviewPrompt(loose, { language: "go" });
await typed.getPrompt("review", { language: "go" });
(await noteResource(typed, { day: "monday" })).contents.length.toFixed();
// @ts-expect-error b is missing
await add(loose, { a: 1 });
// @ts-expect-error a is no text
await add(typed, { a: "1", b: 2 });
// @ts-expect-error there is no argument c
await add(typed, { a: 1, b: 2, c: 3 });
// @ts-expect-error there is no such tool
await typed.call("nothing");
// @ts-expect-error the language is required
await reviewPrompt(loose);
// @ts-expect-error a text is not a client
await fail("client");
`;

describe.skipIf(!built)("generated code", () => {
  let project: TypeScriptProject;
  const handles: Awaited<ReturnType<typeof serveHttp>>[] = [];
  const generate = async (output: string, ...target: string[]) => {
    const ended = await runParley(["types", "-o", output, ...target], { cwd: project.folder });
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    return readFileSync(join(project.folder, output), "utf8");
  };
  const url = (at: number) => handles[at]?.url ?? "";

  beforeAll(async () => {
    project = new TypeScriptProject();
    for (const server of [fixture, serverOf200Tools()]) handles.push(await serveHttp(server, { port: 0 }));
    await generate("fixture.ts", url(0));
    await generate("plain.js", url(0));
    await generate("many.ts", url(1));
    await generate("many-plain.d.ts", url(1));
    if (existsSync(everything)) await generate("everything.ts", "--", process.execPath, everything, "stdio");
    else console.log("server-everything is not installed (npm run peers): its code was not compiled");
    project.write("use.ts", usage("./fixture.js"));
    project.write("use-plain.ts", usage("./plain.js"));
    const offers = { server: "shapes", tools: shapes(), prompts: [], templates: [] };
    project.write("shapes.ts", moduleText(typedModule(offers), "ts"));
    project.write("shapes-plain.d.ts", moduleText(typedModule(offers), "d.ts"));
    for (const [at, hostile] of fc.sample(hostileOffers, { numRuns: 60, seed: 7 }).entries()) {
      project.write(`hostile-${at}.ts`, moduleText(typedModule(hostile), "ts"));
    }
  });
  afterAll(async () => {
    project[Symbol.dispose]();
    for (const handle of handles) await handle.close();
  });

  it.each(Object.entries(COMPILERS))("compiles with every strictness of %s", async (_name, program) => {
    expect(await project.compile(program)).toBe("");
  });

  it("has a function for each of 200 tools, and the same bytes again", async () => {
    const before = readFileSync(join(project.folder, "many.ts"), "utf8");
    expect(before.match(/^export function /gm)).toHaveLength(200);
    expect(await generate("again/many.ts", url(1))).toBe(before);
  });

  it("is the same for server-everything again", async () => {
    if (!existsSync(everything)) return console.log("server-everything is not installed: npm run peers");
    const before = readFileSync(join(project.folder, "everything.ts"), "utf8");
    expect(await generate("again/everything.ts", "--", process.execPath, everything, "stdio")).toBe(before);
    expect(before).toContain("export function echo(");
  });
});
