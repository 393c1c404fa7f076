import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { readRoomTable } from "../packages/mcp/test/architecture/room-table.js";
import { WALK_BOUNDS, WALK_REVISIONS, type WalkRevision } from "../packages/mcp/test/walk/bounds.js";
import { takeWalks } from "../packages/mcp/test/walk/take-walk.js";
import { renderWalk, type Walk } from "../packages/mcp/test/walk/trace.js";
import { region } from "./region.js";
import { drawArrows, drawLayers, foldersOf, roomsIn } from "./room-diagrams.js";

const root = resolve(import.meta.dirname, "..");
const sources = join(root, "packages/mcp/src");
const text = readFileSync(join(import.meta.dirname, "architecture.md"), "utf8");

describe("the page about the walk", () => {
  const page = "docs/internals/walk.md";
  let walks: readonly Walk[] = [];
  beforeAll(async () => {
    walks = await takeWalks();
  }, 240_000);
  const plain = (revision: WalkRevision) => walks.filter((walk) => walk.lane === "plain" && walk.revision === revision);

  it("has the numbers that are measured", () => {
    const rows = walks.map(({ lane, revision, files, reentries, leaves }) => {
      const bounds = WALK_BOUNDS[lane][revision];
      return `| ${lane} | ${revision} | ${files} (${bounds.files}) | ${reentries} (${bounds.reentries}) | ${leaves.length} |\n`;
    });
    const table = `| call | revision | files (at most) | re-entries (at most) | leaves |\n|---|---|--:|--:|--:|\n${rows.join("")}`;
    expect(region(page, "walk numbers", table)).toBe(table);
  });

  it.each(WALK_REVISIONS)("has the files that a call enters in %s", (revision) => {
    const trace = `\`\`\`text\n${plain(revision).map(renderWalk).join("")}\`\`\`\n`;
    expect(region(page, `walk ${revision}`, trace)).toBe(trace);
  });

  it("has the leaves, each with its reason", () => {
    const rows = new Map<string, string>();
    for (const { file, leaf } of WALK_REVISIONS.flatMap(plain).flatMap(({ leaves }) => leaves)) {
      rows.set(file, `| ${leaf.kind} | \`${file}\` | ${leaf.reason} |\n`);
    }
    const table = `| kind | file | why |\n|---|---|---|\n${[...rows.values()].toSorted().join("")}`;
    expect(region(page, "walk leaves", table)).toBe(table);
  });
});

describe("the diagrams in the page about architecture", () => {
  const table = readRoomTable(readFileSync(join(root, "packages/mcp/test/architecture/room-table.txt"), "utf8"));

  it.each(["docs/architecture.md", "CONTRIBUTING.md"])(
    "show the folders of the table of imports as layers: %s",
    (page) => {
      const layers = drawLayers(foldersOf(table));
      expect(region(page, "folders", layers)).toBe(layers);
    },
  );

  it("show who imports whom inside server/ and client/", () => {
    const arrows = drawArrows(new Map([...roomsIn(table, "server"), ...roomsIn(table, "client")]));
    expect(region("docs/architecture.md", "rooms", arrows)).toBe(arrows);
  });

  it("have the stages of layers in their order", () => {
    const code = readFileSync(join(sources, "server/call/layers.ts"), "utf8");
    const list = /const STAGES = \[([^\]]*)\]/.exec(code)?.[1] ?? "";
    const stages = [...list.matchAll(/"([^"]+)"/g)].map(([, stage]) => stage);
    const [, server = ""] = text.split("## Inside a server");
    const rows = [...server.matchAll(/^\| `([a-z ]+)` \| `\S+\.ts` \| /gm)].map(([, stage]) => stage);
    const drawn = [...text.matchAll(/^ │.* {5,}([a-z]+(?: [a-z]+)?) +│$/gm)].map(([, word]) => word);
    expect(stages.length).toBeGreaterThan(5);
    expect(rows).toEqual(stages);
    expect(drawn.filter((word) => stages.includes(word))).toEqual(stages.toReversed());
  });
});

describe("the map in the page about architecture", () => {
  const named = [...text.matchAll(/`([a-z][\w./-]*(?:\/|\.ts|\.txt))`/g)].map(([, path = ""]) => path);

  it("names every room that has files", () => {
    const rooms = readdirSync(sources, { recursive: true, encoding: "utf8" })
      .map((path) => path.replaceAll("\\", "/"))
      .filter((path) => path.includes("/") && path.endsWith(".ts"))
      .map((path) => path.slice(0, path.lastIndexOf("/") + 1));
    expect([...new Set(rooms)].filter((room) => !named.includes(room))).toEqual([]);
  });

  it("names nothing that is not there", () => {
    expect(named.filter((path) => !existsSync(join(sources, path)) && !existsSync(join(root, path)))).toEqual([]);
  });
});
