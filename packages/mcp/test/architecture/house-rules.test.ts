import { describe, expect, it } from "vitest";
import { type EraLine, eraLinesOutside, needlessEraLines } from "./era-lines.js";
import {
  bannedNames,
  crowdedRooms,
  filesNotNamedForTheirExports,
  namesWithTwoMeanings,
  nodeBuiltinsByValue,
  smallFilesWithOneImporter,
} from "./house-rules.js";
import { filesInCycles } from "./import-rings.js";
import { scanSource } from "./scan-source.js";

/** Scans made-up files, given as path and text. */
const scanAll = (texts: Record<string, string>) => Object.entries(texts).map(([path, text]) => scanSource(path, text));

describe("cycles", () => {
  it("are found among types, and name what each file of the ring imports of it", () => {
    const files = scanAll({
      "era/a.ts": 'import type { B } from "./b.js";\nimport { d } from "./d.js";',
      "era/b.ts": 'export type C = import("./c.js").C;',
      "era/c.ts": 'export type { A } from "./a.js";',
      "era/d.ts": "",
    });
    expect(filesInCycles(files)).toEqual([
      "src/era/a.ts:1 cycle of 3 files: imports era/b.ts",
      "src/era/b.ts:1 cycle of 3 files: imports era/c.ts",
      "src/era/c.ts:1 cycle of 3 files: imports era/a.ts",
    ]);
  });

  it("are kept apart, and closed by nothing that is loaded later", () => {
    const two = { "era/a.ts": 'import "./b.js";', "era/b.ts": 'import "./a.js"; import "./c.js";' };
    const other = { "era/c.ts": 'import "./d.js";', "era/d.ts": 'import "./c.js";' };
    const found = filesInCycles(scanAll({ ...two, ...other })).map((line) => line.slice(0, 12));
    expect(found.toSorted()).toEqual(["src/era/a.ts", "src/era/b.ts", "src/era/c.ts", "src/era/d.ts"]);
    expect(filesInCycles(scanAll({ ...two, "era/a.ts": 'export const b = () => import("./b.js");' }))).toEqual([]);
  });
});

describe("era words", () => {
  it.each([
    'export const a = x === "stateful";',
    'import { serve } from "../../era/stateless/server.js";',
    "export const a = featuresOf(revision).batch;",
    "export const a = call.features;",
    "export const a = ({ features }) => features.samplingTools;",
    "export const a = isStateful(peer);",
    "export const a = eraOfRequest(message);",
    'export const a = revisionsOf("x");',
    "export class StatelessExchange {}",
  ])("are found in %s", (text) => {
    const files = scanAll({ "server/call/a.ts": text, "era/a.ts": text, "protocol/a.ts": text, "protocol.ts": text });
    expect(eraLinesOutside(files, [])).toEqual([expect.stringMatching(/^src\/server\/call\/a\.ts:1 era: /)]);
  });

  it.each([
    "// stateful\nexport const a = 1;",
    "export const a = era.encode(call);",
    "export const a = server.features.tools;",
    'import { featuresOf } from "../protocol/revisions.js";',
    'export const a = "a stateful server";',
  ])("are not found in %s", (text) => {
    expect(eraLinesOutside(scanAll({ "server/a.ts": text }), [])).toEqual([]);
  });

  it("may stand on a named line, once for each time it is named", () => {
    const files = scanAll({ "server/a.ts": "featuresOf(a);\nfeaturesOf(b);" });
    const line: EraLine = { file: "server/a.ts", word: "featuresOf", reason: "made up" };
    expect(eraLinesOutside(files, [line])).toEqual(["src/server/a.ts:2 era: featuresOf"]);
    expect(eraLinesOutside(files, [line, line])).toEqual([]);
    expect(needlessEraLines(files, [line, line])).toEqual([]);
    expect(needlessEraLines(files, [line, { ...line, file: "server/b.ts" }])).toMatchObject([{ file: "server/b.ts" }]);
  });
});

describe("rooms and files", () => {
  it("count the files of a room, and not those of rooms inside", () => {
    const files = scanAll({ "era/a.ts": "", "era/b.ts": "", "era/stateful/c.ts": "", "index.ts": "" });
    expect(crowdedRooms(files, 1)).toEqual(["src/era/ room: 2 files, at most 1"]);
  });

  it("find a small file with one importer", () => {
    const texts = { "era/a.ts": 'import { b } from "./b.js";\nimport type { B } from "./b.js";', "era/b.ts": "\n" };
    const found = ["src/era/b.ts:1 small file: 1 lines, and only era/a.ts imports it"];
    expect(smallFilesWithOneImporter(scanAll(texts), 30, [])).toEqual(found);
    expect(smallFilesWithOneImporter(scanAll(texts), 30, [{ file: "era/b.ts", reason: "made up" }])).toEqual([]);
    expect(smallFilesWithOneImporter(scanAll({ ...texts, "era/b.ts": "\n".repeat(30) }), 30, [])).toEqual([]);
    expect(smallFilesWithOneImporter(scanAll({ ...texts, "era/c.ts": 'import "./b.js";' }), 30, [])).toEqual([]);
  });

  it("leave doors and files that are loaded later alone", () => {
    const door = { "index.ts": 'export { b } from "./era/b.js";', "era/b.ts": "" };
    expect(smallFilesWithOneImporter(scanAll(door), 30, [])).toEqual([]);
    const later = { "era/a.ts": 'import type { B } from "./b.js";\nimport("./b.js");', "era/b.ts": "" };
    expect(smallFilesWithOneImporter(scanAll(later), 30, [])).toEqual([]);
  });

  it("refuse a built-in module by value, however its names are imported", () => {
    const text = 'import { type A } from "node:fs";\nimport type { B } from "node:net";\nimport("node:http");';
    expect(nodeBuiltinsByValue(scanAll({ "node/a.ts": text }))).toEqual([
      "src/node/a.ts:1 builtin: node:fs must come by builtin()",
      "src/node/a.ts:3 builtin: node:http must come by builtin()",
    ]);
  });
});

describe("names", () => {
  it("may be declared and exported by one file only", () => {
    const files = scanAll({
      "era/a.ts": "export interface Tool {}\nexport const Tool = 1;",
      "era/b.ts": "export class Tool {}\nclass Own {}",
      "era/c.ts": 'export { Tool } from "./a.js";\nexport class Own {}',
    });
    expect(namesWithTwoMeanings(files, [])).toEqual(["src/era/a.ts:1 two meanings: Tool, also in era/b.ts"]);
    expect(namesWithTwoMeanings(files, ["Tool"])).toEqual([]);
  });

  it.each([
    ["era/call-context.ts", "export class CallContext {}"],
    ["era/tools.ts", "export function callTool() {}"],
    ["era/validate.ts", "export type Validation = 1;"],
    ["era/websocket-client.ts", "export const webSocketTransport = 1;"],
    ["era/a.ts", 'export { b } from "./b.js";'],
    ["index.ts", "export const b = 1;"],
  ])("agree: %s with %s", (path, text) => {
    expect(filesNotNamedForTheirExports(scanAll({ [path]: text }), [])).toEqual([]);
  });

  it("of files share a word with an export", () => {
    const files = scanAll({ "era/linger.ts": "export const endAfterBody = 1;" });
    expect(filesNotNamedForTheirExports(files, [])).toEqual([
      "src/era/linger.ts:1 file name: named linger, exports endAfterBody",
    ]);
    expect(filesNotNamedForTheirExports(files, [{ file: "era/linger.ts", reason: "made up" }])).toEqual([]);
  });

  it.each([
    "export class Lane {}",
    "interface Lane {}",
    "const { ...Lane } = x;",
    "class A { #Lane = 1; }",
    "const f = (Lane) => 1;",
  ])("that were given up are found: %s", (text) => {
    const found = bannedNames(scanAll({ "era/a.ts": text }), [{ name: "Lane", instead: "ReplyStream" }]);
    expect(found).toEqual(["src/era/a.ts:1 name: Lane: say ReplyStream"]);
  });

  it("that were given up in one folder may stand in another", () => {
    const banned = [{ name: "Origin", instead: "RequestSource", within: "era/" }];
    expect(bannedNames(scanAll({ "http/a.ts": "interface Origin {}" }), banned)).toEqual([]);
    expect(bannedNames(scanAll({ "era/a.ts": "x.Origin; // Origin" }), banned)).toEqual([]);
  });
});
