import { connect } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { ModuleGraph } from "../../src/modules/module-graph.js";
import { loadServerModule } from "../../src/target/load-module.js";
import { ModuleFolder } from "./module-folder.js";

const SERVER = 'import { Server } from "@parley/mcp";\nconst made = new Server({ name: "x", version: "1.0.0" });\n';

async function loaded(files: Readonly<Record<string, string>>, main: string) {
  using folder = new ModuleFolder(files);
  return await new ModuleGraph(`${folder.path}/${main}`).load();
}

describe("a module of the user", () => {
  it("is evaluated as Node evaluates modules, from TypeScript", async () => {
    const files = {
      "main.ts": `
        import type { Absent } from "./absent.js";
        import later, { count as counted, type Kind } from "./part.js";
        import * as all from "./part.js";
        import data from "./data.json" with { type: "json" };
        import { readFileSync } from "node:fs";
        enum Colour { red = "RED" }
        const value: Kind & Absent = await Promise.resolve("awaited" as never);
        export { later as default, counted };
        export const seen = { value, data, colour: Colour.red, url: import.meta.url, folder: import.meta.dirname,
          main: import.meta.main ?? false, keys: Object.keys(all).sort(), fs: typeof readFileSync,
          dynamic: (await import("./part.js")).count, resolved: import.meta.resolve("./part.js") };`,
      "part.ts":
        "export type Kind = string;\nexport let count: number = 0;\ncount += 1;\nexport default await Promise.resolve(7);",
      "data.json": '{ "a": 1 }',
    };
    const { default: value, counted, seen } = await loaded(files, "main.ts");
    expect({ value, counted, seen }).toMatchObject({
      value: 7,
      counted: 1,
      seen: { value: "awaited", data: { a: 1 }, colour: "RED", main: false, keys: ["count", "default"], dynamic: 1 },
    });
    expect(seen).toMatchObject({ url: expect.stringMatching(/^file:.*main\.ts$/), fs: "function" });
  });

  it.each(["js", "mjs", "ts", "mts"])(
    "is evaluated once for all that import it, also in a circle (.%s)",
    async (ending) => {
      const files = {
        [`main.${ending}`]: `import { a } from "./a.${ending}"; import { b } from "./b.${ending}"; export const sum = a() + b() + globalThis.evaluated;`,
        [`a.${ending}`]: `import { b } from "./b.${ending}"; import "./once.${ending}"; export function a() { return b() * 10; }`,
        [`b.${ending}`]: `import { a } from "./a.${ending}"; await import("./once.${ending}"); export function b() { return typeof a === "function" ? 1 : 0; }`,
        [`once.${ending}`]: "await null; globalThis.evaluated = (globalThis.evaluated ?? 0) + 100;",
      };
      Object.assign(globalThis, { evaluated: 0 });
      expect(await loaded(files, `main.${ending}`)).toMatchObject({ sum: 111 });
      Object.assign(globalThis, { evaluated: undefined });
    },
  );

  it("waits for a file that another import began to evaluate", async () => {
    const files = {
      "main.ts":
        'const [a, b] = await Promise.all([import("./a.js"), import("./b.js")]); export const both = [a.value, b.value];',
      "a.ts": 'export { value } from "./slow.js";',
      "b.ts": 'export { value } from "./slow.js";',
      "slow.ts": "await new Promise((done) => setImmediate(done)); export const value: string = 'ready';",
    };
    expect(await loaded(files, "main.ts")).toMatchObject({ both: ["ready", "ready"] });
  });

  it("is read again by the next load, whatever kind of file has changed", async () => {
    using folder = new ModuleFolder({
      "main.js":
        'import c from "./c.cjs"; import d from "./d.json" with { type: "json" }; import { m } from "./m.mjs"; export const all = [c.inner, d, m];',
      "c.cjs": 'exports.inner = require("./inner.cjs");',
      "inner.cjs": "module.exports = 1;",
      "d.json": "1",
      "m.mjs": "export const m = 1;",
    });
    const main = `${folder.path}/main.js`;
    const graph = new ModuleGraph(main);
    expect(await graph.load()).toMatchObject({ all: [1, 1, 1] });
    expect([...graph.files.keys()].map((path) => path.slice(folder.path.length + 1)).sort()).toEqual([
      "c.cjs",
      "d.json",
      "inner.cjs",
      "m.mjs",
      "main.js",
    ]);
    folder.write("inner.cjs", "module.exports = 2;");
    folder.write("d.json", "2");
    folder.write("m.mjs", "export const m = 2;");
    expect(await new ModuleGraph(main).load()).toMatchObject({ all: [2, 2, 2] });
  });
});

describe("a line of the source", () => {
  it("is the line of a stack, behind types, enums and decorations that are gone", async () => {
    const code = `#!/usr/bin/env node
interface Options {
  readonly name: string;
  readonly limit?: number;
}
type Both<T> = T & {
  a: string;
};
enum Level {
  low = 1,
  high,
}
/* a comment
   of two lines */
export class Box<T extends Options> {
  constructor(private readonly options: T, readonly level: Level = Level.high) {}
  where(): string {
    return (new Error("here").stack ?? "").split("\\n")[1] as string;
  }
}
export const value = (new Box({ name: "x" } satisfies Both<Options> | Options) as Box<Options>).where();
`;
    expect(await loaded({ "main.ts": code }, "main.ts")).toMatchObject({
      value: expect.stringMatching(/Box\.where \(.*main\.ts:18:\d+\)$/),
    });
  });
});

describe("the server of a module", () => {
  it.each([
    ["the default", "export default made;"],
    ["server", "export const server = made; export const other = { endpoint: 1 };"],
    ["the only server", "export const notes = made; export const limit = 3;"],
    ["a function", "export default () => made;"],
    ["a function of a promise", "export async function server() { return made; }"],
    ["a promise", "export default Promise.resolve(made);"],
    ["a maker", "export class Server2 {} export function createServer() { return made; }"],
  ])("may be %s", async (_what, exported) => {
    using folder = new ModuleFolder({ "main.ts": SERVER + exported }).link();
    const server = await loadServerModule(`${folder.path}/main.ts`);
    await using client = await connect(server);
    expect(client.serverInfo).toMatchObject({ name: "x" });
  });

  it("is made by the copy of the library that the project has", async () => {
    const code = `${SERVER}export default made.tool("where", () => import.meta.resolve("@parley/mcp"));`;
    using folder = new ModuleFolder({ "main.ts": code }).copy();
    await using client = await connect(await loadServerModule(`${folder.path}/main.ts`));
    expect(await client.call("where")).toContain(`${folder.path}/node_modules/@parley/mcp/dist/`);
  });

  it.each([
    ["export const a = 1;", "exports no server", "Add `export const server"],
    ["export const a = made; export const b = made;", "exports several servers: a, b", "as default"],
    [
      "export default made;\nconst x = ;",
      "main.ts:4:11: syntax error: Unexpected token\nconst x = ;\n          ^",
      "Correct the syntax",
    ],
    [
      `${"/**/".repeat(50)}const\tx = ;${" ".repeat(99)}`,
      `\n*/${"/**/".repeat(7)}const x = ;\n${" ".repeat(40)}^`,
      "Correct the syntax",
    ],
    ["export default made;\n\nthrow new Error('no key');", "main.ts:5:7: no key", "Correct this line"],
    ["export default () => {\n  throw new Error('no key');\n};", "main.ts:4:9: no key", "Correct this line"],
    ['import "zot";\nexport default made;', "main.ts:3: the package zot is not installed", "npm install zot"],
    ['import "@parley/mcp/zot";', 'main.ts:3: the package @parley/mcp has no entry "@parley/mcp/zot"', "Check"],
    ['import "./part.js";', "main.ts:3: the file ./part.js does not exist", "Check the path"],
    ['import "./thrower.js";', "thrower.ts:2:7: deep", "Correct this line"],
    ["export default made.tool('a', () => 'a').tool('a', () => 'b');", "main.ts:3:", ""],
  ])("%j is refused with its place, cause and fix", async (code, cause, fix) => {
    const thrower = "const message: string = 'deep';\nthrow new TypeError(message);";
    using folder = new ModuleFolder({ "main.ts": SERVER + code, "thrower.ts": thrower }).link();
    const failure = await loadServerModule(`${folder.path}/main.ts`).catch((reason: unknown) => reason);
    expect(failure).toMatchObject({
      message: expect.stringContaining(cause),
      fix: expect.stringContaining(fix),
    });
  });
});
