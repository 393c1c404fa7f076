import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { WALK_BOUNDS, WALK_LANES, WALK_REVISIONS, type WalkLane, type WalkRevision } from "./bounds.js";
import { instrument } from "./instrument.js";
import { LEAVES } from "./leaves.js";
import { recorder, type WalkEvent } from "./recorder.js";
import { takeWalks } from "./take-walk.js";
import { HANDLER, renderWalk, toWalk, type Walk } from "./trace.js";

const sources = readdirSync(resolve(import.meta.dirname, "../../src"), { recursive: true, encoding: "utf8" }).map(
  (path) => path.replaceAll("\\", "/"),
);

describe("one tools/call", () => {
  let walks: readonly Walk[] = [];
  beforeAll(async () => {
    walks = await takeWalks();
  }, 240_000);
  const cases = WALK_LANES.flatMap((lane) => WALK_REVISIONS.map((revision) => [lane, revision] as const));
  const find = (lane: WalkLane, revision: WalkRevision) => {
    const walk = walks.find((one) => one.lane === lane && one.revision === revision);
    if (walk === undefined) throw new Error(`${lane} was not traced in ${revision}`);
    return walk;
  };

  it.each(cases)("stays within its bounds: %s in %s", (lane, revision) => {
    const { files, reentries } = find(lane, revision);
    expect(files).toBeGreaterThan(10);
    expect(files).toBeLessThanOrEqual(WALK_BOUNDS[lane][revision].files);
    expect(reentries).toBeLessThanOrEqual(WALK_BOUNDS[lane][revision].reentries);
  });

  it.each(cases)("enters the client first, then the server, then the handler: %s in %s", (lane, revision) => {
    const files = find(lane, revision).visits.map(({ file }) => file);
    expect(files[0]).toMatch(/^client\//);
    // A question without a session is answered by a second request, which runs the handler again.
    const runs = lane === "elicit" && revision === "2026-07-28" ? 2 : 1;
    expect(files.filter((file) => file === HANDLER)).toHaveLength(runs);
    expect(files.findIndex((file) => file.startsWith("server/"))).toBeLessThan(files.indexOf(HANDLER));
    expect(files.findIndex((file) => file.startsWith("node/http/"))).toBeGreaterThan(0);
  });

  it.each(cases)("has leaves that call nothing of the spine and never wait: %s in %s", (lane, revision) => {
    expect(find(lane, revision).falseLeaves).toEqual([]);
  });

  it("goes the way that its lane is named for", () => {
    for (const revision of WALK_REVISIONS) {
      const enters = (lane: WalkLane, path: string) =>
        find(lane, revision).visits.some(({ file }) => file.startsWith(path));
      expect(enters("elicit", "client/answers/")).toBe(true);
      expect(enters("elicit", "server/questions/asking.ts")).toBe(true);
      expect(enters("gateway", "host/gateway/")).toBe(true);
      expect(enters("task", "extensions/tasks/")).toBe(true);
      expect(enters("plain", "server/questions/asking.ts")).toBe(false);
    }
  });

  it("names no leaf that is gone", () => {
    const gone = LEAVES.filter(({ path }) => !sources.some((file) => file === path || `${file}/` === path));
    expect(gone).toEqual([]);
  });
});

describe("counting", () => {
  const event = (file: string, name = "f", under: string[] = []): WalkEvent => ({ file, name, resumed: false, under });

  it("joins what is entered without another spine file between", () => {
    const walk = toWalk("plain", "2026-07-28", [
      event("a.ts"),
      event("a.ts", "g"),
      event("schema/parse.ts"),
      event("a.ts", "h"),
    ]);
    expect(walk).toMatchObject({ files: 1, reentries: 0, visits: [{ file: "a.ts", names: ["f", "g", "h"] }] });
    expect(walk.leaves).toMatchObject([{ file: "schema/parse.ts", entered: 1 }]);
  });

  it("counts a file that is visited again, and not the handler", () => {
    const events = [event("a.ts"), event("b.ts", "f", ["a.ts"]), event(HANDLER), event("b.ts"), event("a.ts", "g")];
    const walk = toWalk("plain", "2026-07-28", events);
    expect(walk).toMatchObject({ files: 2, reentries: 2 });
    expect(walk.visits.map(({ depth, again }) => [depth, again])).toEqual([
      [0, false],
      [1, false],
      [2, false],
      [1, true],
      [0, true],
    ]);
    expect(renderWalk(walk)).toMatch(/^ {2}a\.ts +f\n {4}b\.ts +f\n {6}YOUR HANDLER\n↩ {3}b\.ts +f\n↩ a\.ts +g\n$/);
  });

  it("finds a leaf that calls the spine, and one that waits", () => {
    const waits = { ...event("schema/parse.ts", "parse"), resumed: true };
    const walk = toWalk("plain", "2026-07-28", [event("a.ts", "f", ["schema/parse.ts"]), waits]);
    expect(walk.falseLeaves).toEqual(["schema/parse.ts calls a.ts (f)", "schema/parse.ts waits in parse"]);
  });

  it("lets a leaf call back what it was given", () => {
    expect(toWalk("plain", "2026-07-28", [event("a.ts", "f", ["encoding/maybe-promise.ts"])]).falseLeaves).toEqual([]);
  });
});

describe("instrumented code", () => {
  /** Runs made-up code as an instrumented file of this name. */
  async function run(code: string): Promise<string[]> {
    recorder.start();
    await new Function(`return (async () => {${instrument("x.ts", code)}})()`)();
    return recorder.stop().map(({ name, resumed, under }) => `${name}${resumed ? "+" : ""}@${under.length}`);
  }

  it.each([
    ["functions", "function a() { b(); } function b() {} a(); b();", ["a@0", "b@1", "b@0"]],
    [
      "methods",
      "class A { constructor() { this.b; } get b() { return this.#c(); } #c() {} } new A();",
      ["constructor@0", "b@1", "#c@2"],
    ],
    ["arrows without a block", "const a = () => ({ b: b() }); const b = () => 1; a(); b();", ["a@0", "b@1", "b@0"]],
    ["callbacks by the name around them", "function a() { [1].map(() => 1); } a();", ["a@0", "a@1"]],
    [
      "what threw",
      "function a() { try { b(); } catch {} c(); } const b = () => d(); function c() {} function d() { throw 1; } a();",
      ["a@0", "b@1", "d@2", "c@2"],
    ],
    ["generators", "function* a() { yield 1; } for (const x of a()) {}", ["a@0"]],
  ])("notes %s", async (_what, code, expected) => {
    expect(await run(code)).toEqual(expected);
  });

  it("notes where an await goes on, and who runs meanwhile", async () => {
    const code =
      "async function a() { await b(); c(); } async function b() { await 0; } function c() {} const d = async () => await b(); await a(); await d();";
    // The module's own await is the test's, and is noted too.
    expect((await run(code)).filter((line) => !line.startsWith("module"))).toEqual([
      "a@0",
      "b@1",
      "b+@0",
      "a+@0",
      "c@1",
      "d@0",
      "b@0",
      "b+@0",
      "d+@0",
    ]);
  });
});
