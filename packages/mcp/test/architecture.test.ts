import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { BANNED_NAMES } from "./architecture/banned-names.js";
import { eraLinesOutside, needlessEraLines } from "./architecture/era-lines.js";
import { ERA_LINES, FILE_NAMES, OTHER_PACKAGES, SMALL_FILES, TWO_MEANINGS } from "./architecture/exceptions.js";
import {
  bannedNames,
  crowdedRooms,
  filesNotNamedForTheirExports,
  namesWithTwoMeanings,
  nodeBuiltinsByValue,
  smallFilesWithOneImporter,
} from "./architecture/house-rules.js";
import { filesInCycles } from "./architecture/import-rings.js";
import { importCycles, importsOutsideTheTable, packagesOutsideNode } from "./architecture/import-table.js";
import { AT_MOST } from "./architecture/ratchet.js";
import { importsOutsideTheRoomTable, readRoomTable, roomCircles, writeRoomTable } from "./architecture/room-table.js";
import { scanSource } from "./architecture/scan-source.js";
import {
  ambientUsesOutsideThePlatform,
  binFileNames,
  exportStars,
  longFiles,
  revisionsOutsideEraAndProtocol,
  tooManyExports,
  topLevelAwaits,
} from "./architecture/source-rules.js";

const root = resolve(import.meta.dirname, "../src");
const scanFolder = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => /\.tsx?$/.test(path))
    .sort()
    .map((path) => scanSource(path, readFileSync(join(folder, path), "utf8")));
const all = scanFolder(root);
const isTest = (file: { path: string }) => file.path.endsWith(".test.ts");
const sources = all.filter((file) => !isTest(file));

/** Scans made-up files, given as path and text. */
const scanAll = (texts: Record<string, string>) => Object.entries(texts).map(([path, text]) => scanSource(path, text));

describe("the library's sources", () => {
  it("import only what the table allows", () => {
    expect(importsOutsideTheTable(sources)).toEqual([]);
  });

  it("have no import cycle at run time", () => {
    expect(importCycles(sources)).toEqual([]);
  });

  it("reach Node and process-starting packages from node/ only", () => {
    expect(packagesOutsideNode(sources)).toEqual([]);
  });

  it("spell out a protocol revision in era/ and protocol/ only", () => {
    expect(revisionsOutsideEraAndProtocol(sources)).toEqual([]);
  });

  it("take time, timers, randomness, crypto, fetch and processes from the platform", () => {
    expect(ambientUsesOutsideThePlatform(sources)).toEqual([]);
  });

  it("await nothing at the top level", () => {
    expect(topLevelAwaits(sources)).toEqual([]);
  });

  it("export name by name", () => {
    expect(exportStars(sources)).toEqual([]);
  });

  it("may be longer than 400 lines, and are named then", () => {
    const long = [...longFiles(all, 400), ...others.flatMap(({ own, tests }) => longFiles([...own, ...tests], 400))];
    if (long.length > 0) console.log(`long files:\n${long.join("\n")}`);
  });

  it("are named for what they export", () => {
    expect(binFileNames(all)).toEqual([]);
  });

  it("offer at most 30 values and 52 types at the root, and exactly the names of the snapshot", async () => {
    const index = scanSource("index.ts", readFileSync(join(root, "index.ts"), "utf8"));
    expect(tooManyExports(index, { values: 30, types: 52 })).toEqual([]);
    const lines = [
      ...index.exportedValues.toSorted().map((name) => `value ${name}`),
      ...index.exportedTypes.toSorted().map((name) => `type ${name}`),
    ];
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("architecture/root-exports.txt");
  });
});

describe("the table of rooms", () => {
  const path = join(import.meta.dirname, "architecture/room-table.txt");
  // `1` only removes: an import that is new is written into the table by hand. `all` is for folders that were moved.
  const update = process.env["UPDATE_ROOMS"];
  if (update === "1") writeFileSync(path, writeRoomTable(sources, readRoomTable(readFileSync(path, "utf8"))));
  if (update === "all") writeFileSync(path, writeRoomTable(sources));
  const text = readFileSync(path, "utf8");
  const table = readRoomTable(text);

  it("has every import of a room by another", () => {
    expect(importsOutsideTheRoomTable(sources, table)).toEqual([]);
  });

  it("has no import that is gone (`UPDATE_ROOMS=1 npx vitest run packages/mcp/test/architecture.test.ts` takes it out)", () => {
    expect(text).toBe(writeRoomTable(sources));
  });

  it("has no circle, so that a folder and the rooms in it know each other in one direction only", () => {
    expect(roomCircles(table)).toEqual([]);
  });
});

describe("the library's rooms", () => {
  it.each<[keyof typeof AT_MOST, string, string[]]>([
    ["filesInCycles", "have no import cycle, of types either", filesInCycles(sources)],
    ["eraLines", "know of eras in era/, protocol/ and the named lines only", eraLinesOutside(sources, ERA_LINES)],
    // Entries are no room: package.json lists them.
    [
      "crowdedRooms",
      "hold at most 20 files each",
      crowdedRooms(
        sources.filter(({ path }) => path.includes("/")),
        20,
      ),
    ],
    ["smallFiles", "have no small file with one importer", smallFilesWithOneImporter(sources, 30, SMALL_FILES)],
    ["twoMeanings", "export each name once", namesWithTwoMeanings(sources, TWO_MEANINGS)],
    ["fileNames", "name files for what they export", filesNotNamedForTheirExports(sources, FILE_NAMES)],
    ["builtins", "load no built-in module of Node with a file", nodeBuiltinsByValue(sources)],
    ["bannedNames", "use no name that was given up", bannedNames(sources, BANNED_NAMES)],
  ])("%s: they %s", (rule, _what, found) => {
    if (found.length > 0) console.log(`${rule}: ${found.length}, at most ${AT_MOST[rule]}\n${found.join("\n")}\n`);
    expect(found.length, found.join("\n")).toBeLessThanOrEqual(AT_MOST[rule]);
  });

  it("need every exception that is named, and at most ten lines that know of eras", () => {
    expect(ERA_LINES.length).toBeLessThanOrEqual(10);
    expect(needlessEraLines(sources, ERA_LINES)).toEqual([]);
    const without = (rule: (except: typeof SMALL_FILES) => string[]) => (list: typeof SMALL_FILES) =>
      list.filter((one) => rule(list).length === rule(list.filter((other) => other !== one)).length);
    expect(without((except) => smallFilesWithOneImporter(sources, 30, except))(SMALL_FILES)).toEqual([]);
    expect(without((except) => filesNotNamedForTheirExports(sources, except))(FILE_NAMES)).toEqual([]);
    const namedTwice = namesWithTwoMeanings(sources, []).length - namesWithTwoMeanings(sources, TWO_MEANINGS).length;
    expect(namedTwice).toBe(TWO_MEANINGS.length);
  });
});

const others = [
  ["redis", "src"],
  ["cli", "src"],
  ["inspector", "src"],
  ["inspector", "page"],
].map(([name = "", folder = ""]) => {
  const scanned = scanFolder(resolve(import.meta.dirname, "../..", name, folder));
  const tests = [...scanned.filter(isTest), ...scanFolder(resolve(import.meta.dirname, "../..", name, "test"))];
  return { name, folder, own: scanned.filter((file) => !isTest(file)), tests };
});

describe.each(others.map((one) => [one.name, one.folder, one] as const))("@parley/%s in %s", (_name, _folder, one) => {
  const { own, tests } = one;
  const declarations = own
    .filter(({ path }) => path.endsWith("-commands.ts"))
    .map(({ path }) => ({ file: path, reason: "what every start loads, apart from what does the work" }));

  it("keep the rules of the library for files and names", () => {
    expect(binFileNames([...own, ...tests])).toEqual([]);
    expect(crowdedRooms(own, 20)).toEqual([]);
    expect(smallFilesWithOneImporter(own, 30, [...declarations, ...OTHER_PACKAGES.smallFiles])).toEqual([]);
    expect(filesNotNamedForTheirExports(own, OTHER_PACKAGES.fileNames)).toEqual([]);
    expect(namesWithTwoMeanings(own, [])).toEqual([]);
    expect(bannedNames(own, BANNED_NAMES)).toEqual([]);
  });

  it("have no import cycle, await nothing at the top level and export name by name", () => {
    expect(filesInCycles(own)).toEqual([]);
    expect(topLevelAwaits(own)).toEqual([]);
    expect(exportStars(own)).toEqual([]);
    const isExcepted = (path: string) => OTHER_PACKAGES.revisions.some(({ file }) => path.startsWith(file));
    expect(revisionsOutsideEraAndProtocol(own.filter(({ path }) => !isExcepted(path)))).toEqual([]);
  });
});

describe("the other packages", () => {
  it("need every exception that is named", () => {
    const found = others.flatMap(({ own }) => [
      ...smallFilesWithOneImporter(own, 30, []),
      ...filesNotNamedForTheirExports(own, []),
      ...revisionsOutsideEraAndProtocol(own),
    ]);
    const exceptions = Object.values(OTHER_PACKAGES).flat();
    expect(exceptions.filter(({ file }) => !found.some((line) => line.startsWith(`src/${file}`)))).toEqual([]);
  });

  it("export each name once, also where the inspector's page and its server side are two folders", () => {
    const inspector = others.filter(({ name }) => name === "inspector").flatMap(({ own }) => own);
    expect(namesWithTwoMeanings(inspector, [])).toEqual([]);
  });
});

describe("the table of rooms of made-up files", () => {
  const files = scanAll({
    "a/x.ts": 'import type { Y } from "../b/y.js";',
    "b/y.ts": 'import { z } from "./c/z.js";\nimport { w } from "./w.js";',
    "b/c/z.ts": "export const z = 1;",
    "index.ts": 'export { z } from "./b/c/z.js";',
  });

  it("is written from the imports, and read back", () => {
    const text = writeRoomTable(files);
    expect(text).toBe("a: b\nb: b/c\nb/c:\n");
    expect(readRoomTable(text).get("b")).toEqual(["b/c"]);
    expect(importsOutsideTheRoomTable(files, readRoomTable(text))).toEqual([]);
  });

  it("refuses what it does not name, and loses only what is gone", () => {
    const table = readRoomTable("a: c\nb: b/c\nb/c:\n");
    expect(importsOutsideTheRoomTable(files, table)).toEqual(["src/a/x.ts:1 room table: a/ may not import b/"]);
    expect(writeRoomTable(files, table)).toBe("a:\nb: b/c\nb/c:\n");
  });

  it("may have no circle, of a folder and a room in it either", () => {
    expect(roomCircles(readRoomTable("a: b\nb: a\nc: d\nd:\n"))).toEqual(["circle of 2 rooms: a, b"]);
    expect(roomCircles(readRoomTable("a: a/b\na/b: c\nc: a\n"))).toEqual(["circle of 3 rooms: a, a/b, c"]);
    expect(roomCircles(readRoomTable("a: a/b c\na/b: c\nc:\n"))).toEqual([]);
  });
});

describe("the import rules", () => {
  it("name the file and the line of an import that points up", () => {
    const files = scanAll({
      "protocol/tools.ts": 'import { a } from "../jsonrpc/a.js";\nimport { b } from "../era/b.js";',
    });
    expect(importsOutsideTheTable(files)).toEqual([
      "src/protocol/tools.ts:2 import table: protocol/ may not import era (../era/b.js)",
    ]);
  });

  it.each([
    ["client/call.ts", "../server/ask.js"],
    ["server/ask.ts", "../client/call.js"],
    ["server/ask.ts", "../node/http.js"],
    ["jsonrpc/message.ts", "../schema/compile.js"],
    ["encoding/base64.ts", "../platform/platform.js"],
    ["jsonrpc/message.ts", "#platform"],
    ["transport/http/client.ts", "../../auth/oauth.js"],
    ["transport/http/client.ts", "../../index.js"],
    ["era/select.ts", "#transports"],
    ["somewhere/new.ts", "../jsonrpc/message.js"],
  ])("refuse %s importing %s", (path, specifier) => {
    expect(importsOutsideTheTable(scanAll({ [path]: `import { a } from "${specifier}";` }))).toHaveLength(1);
  });

  it.each([
    ["type imports", 'import type { S } from "../server/ask.js";'],
    ["re-exports", 'export { s } from "../server/ask.js";'],
    ["dynamic imports", 'export const s = () => import("../server/ask.js");'],
    ["import types", 'export type S = Promise<import("../server/ask.js").S>;'],
  ])("see through %s", (_kind, text) => {
    expect(importsOutsideTheTable(scanAll({ "client/call.ts": text }))).toHaveLength(1);
  });

  it("let the lowest folders use files of the platform, and entry files anything", () => {
    const files = scanAll({
      "storage/memory.ts": 'import type { Platform } from "../platform/platform.js";',
      "client/connect.ts": 'import { platform } from "#platform";\nimport { transports } from "#transports";',
      "index.ts": 'export { Server } from "./server/server.js";',
    });
    expect(importsOutsideTheTable(files)).toEqual([]);
  });

  it("show a run-time cycle as a path, and leave type and dynamic imports alone", () => {
    const ring = { "era/a.ts": 'import { b } from "./b.js";', "era/b.ts": 'import { c } from "./c.js";' };
    expect(importCycles(scanAll({ ...ring, "era/c.ts": 'export { a } from "./a.js";' }))).toEqual([
      "src/era/c.ts:1 import cycle: era/a.ts → era/b.ts → era/c.ts → era/a.ts",
    ]);
    expect(importCycles(scanAll({ ...ring, "era/c.ts": 'import type { A } from "./a.js";' }))).toEqual([]);
    expect(importCycles(scanAll({ ...ring, "era/c.ts": 'export const a = () => import("./a.js");' }))).toEqual([]);
  });

  it.each(["node:fs", "fs", "cross-spawn", "ws", "zod"])("refuse the package %s in neutral code", (name) => {
    expect(packagesOutsideNode(scanAll({ "client/connect.ts": `import x from "${name}";` }))).toHaveLength(1);
    expect(packagesOutsideNode(scanAll({ "node/http.ts": `import x from "${name}";` }))).toEqual([]);
  });
});

describe("the source rules", () => {
  it.each([
    "Date.now()",
    "new Date()",
    "new Date",
    "setTimeout(f, 1)",
    "setInterval(f, 1)",
    "setImmediate(f)",
    "Math.random()",
    "crypto.randomUUID()",
    "crypto.subtle.digest(a, b)",
    "performance.now()",
    "globalThis.crypto",
    "globalThis.fetch(url)",
    "fetch(url)",
    "{ fetch }",
    "spawn(command)",
  ])("find the ambient %s", (use) => {
    const files = scanAll({ "client/call.ts": `export const a = 1;\nexport const x = () => (${use});` });
    expect(ambientUsesOutsideThePlatform(files)).toEqual([
      expect.stringMatching(/^src\/client\/call\.ts:2 platform: /),
    ]);
    expect(
      ambientUsesOutsideThePlatform(scanAll({ "platform/default.ts": `export const x = () => (${use});` })),
    ).toEqual([]);
  });

  it.each([
    "platform.fetch(url)",
    "platform.crypto.randomUUID()",
    "new Date(0)",
    "{ fetch: own }",
    "(({ fetch }) => fetch(url))(platform)",
    '"Date.now()"',
    "1 /* setTimeout() */",
    "own as typeof fetch",
    "own as typeof crypto.subtle",
  ])("accept the injected or harmless %s", (use) => {
    expect(ambientUsesOutsideThePlatform(scanAll({ "client/call.ts": `export const x = () => (${use});` }))).toEqual(
      [],
    );
  });

  it("find a revision in strings, templates and patterns but not in comments", () => {
    const text = '// 2025-11-25\nexport const a = ["2025-11-25", `2026-07-28 of`, /2024-11-05/];';
    const found = revisionsOutsideEraAndProtocol(scanAll({ "server/ask.ts": text, "era/select.ts": text }));
    expect(found).toHaveLength(3);
    expect(found[0]).toBe('src/server/ask.ts:2 revision: "2025-11-25" belongs to era/ or protocol/');
  });

  it("find a top-level await but not one inside a function", () => {
    const text = "await a;\nfor await (const x of y) {}\nexport const f = async () => await a;";
    expect(topLevelAwaits(scanAll({ "client/call.ts": text }))).toHaveLength(2);
  });

  it("find both forms of a star export", () => {
    const text = 'export * from "./a.js";\nexport * as b from "./b.js";\nexport { c } from "./c.js";';
    expect(exportStars(scanAll({ "index.ts": text }))).toHaveLength(2);
  });

  it("count lines as wc does", () => {
    expect(longFiles(scanAll({ "a/b.ts": "\n".repeat(301) }), 300)).toEqual([
      "src/a/b.ts:301 file length: 301 lines, at most 300",
    ]);
    expect(longFiles(scanAll({ "a/b.ts": "\n".repeat(300) }), 300)).toEqual([]);
  });

  it.each(["client/utils.ts", "shared/a.ts", "era/types.ts", "helpers.ts"])("refuse the name %s", (path) => {
    expect(binFileNames(scanAll({ [path]: "", "protocol/content-types.ts": "" }))).toHaveLength(1);
  });

  it("count values and types at the root apart", () => {
    const file = scanSource("index.ts", 'export { a, b, type C } from "./a.js";\nexport type { D } from "./d.js";');
    expect(tooManyExports(file, { values: 2, types: 2 })).toEqual([]);
    expect(tooManyExports(file, { values: 1, types: 1 })).toEqual([
      "src/index.ts:1 root export: 2 values, at most 1",
      "src/index.ts:1 root export: 2 types, at most 1",
    ]);
  });
});
