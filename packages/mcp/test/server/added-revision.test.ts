import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { DOWNGRADES } from "../../src/era/stateless/downgrade.js";
import { connect, Server } from "../../src/index.js";
import { REVISIONS, type Revision, type RevisionFeatures } from "../../src/protocol/revisions.js";

// Two made-up revisions: one with a handshake and without icons, and one without a handshake, newer than all others.
const STATEFUL = "2025-12-31" as Revision;
const STATELESS = "2027-03-01" as Revision;

vi.mock("../../src/protocol/revisions.js", async (importOriginal) => {
  const original = await importOriginal<typeof import("../../src/protocol/revisions.js")>();
  const rows: Record<string, RevisionFeatures> = {
    "2025-12-31": { ...original.featuresOf("2025-11-25"), icons: false },
    "2027-03-01": original.featuresOf("2026-07-28"),
  };
  const all = [...original.REVISIONS, ...Object.keys(rows)].toSorted() as Revision[];
  const featuresOf = (revision: Revision) => rows[revision] ?? original.featuresOf(revision);
  return {
    ...original,
    REVISIONS: all,
    featuresOf,
    isRevision: (value: unknown) => all.includes(value as Revision),
    revisionsOf: (era: string, among: readonly Revision[] = all) =>
      all.filter((revision) => featuresOf(revision).era === era && among.includes(revision)).reverse(),
    NEWEST_STATELESS: "2027-03-01",
  };
});

const icons = [{ src: "https://example.com/a.png" }];

async function tried(revision: Revision) {
  const server = new Server({ name: "weather", version: "1.0.0" }).tool(
    "forecast",
    { title: "Forecast", icons },
    async (_args, ctx) => {
      ctx.progress(1, { total: 2, message: "half" });
      return "cold";
    },
  );
  const client = await connect(server, { revisions: [revision] });
  const messages: (string | undefined)[] = [];
  const value = await client.call("forecast", {}, { onProgress: ({ message }) => messages.push(message) });
  const [tool] = await client.allTools();
  const { protocolVersion } = client;
  await client.close();
  return { protocolVersion, value, tool, messages };
}

afterEach(() => {
  for (const revision of REVISIONS) delete DOWNGRADES[revision];
});

describe("a revision that is added as a row of data", () => {
  it("is served with a handshake, and lacks what its row lacks", async () => {
    const { protocolVersion, value, tool } = await tried(STATEFUL);
    expect({ protocolVersion, value }).toEqual({ protocolVersion: STATEFUL, value: "cold" });
    expect(tool).not.toHaveProperty("icons");
    expect((await tried("2025-11-25")).tool).toMatchObject({ icons });
  });

  it("is served without a handshake, and beside it the older one by its downgrade", async () => {
    DOWNGRADES["2026-07-28"] = {
      result(method, result) {
        if (method !== "tools/list") return result;
        const tools = result["tools"] as Record<string, unknown>[];
        return { ...result, tools: tools.map(({ icons: _icons, ...tool }) => tool) };
      },
      notification(_method, { message: _message, ...params }: { message?: string }) {
        return params;
      },
      answer: (_method, answer) => answer,
    };
    const newest = await tried(STATELESS);
    expect(newest).toMatchObject({ protocolVersion: STATELESS, value: "cold", tool: { icons } });
    expect(newest.messages).toEqual(["half"]);
    const older = await tried("2026-07-28");
    expect(older).toMatchObject({ protocolVersion: "2026-07-28", value: "cold", messages: [undefined] });
    expect(older.tool).not.toHaveProperty("icons");
  });
});

describe("the page about adding a revision", () => {
  const root = resolve(import.meta.dirname, "../../../..");
  const page = readFileSync(join(root, "docs/internals/adding-a-revision.md"), "utf8");

  it("names every source file that names the newest revision", () => {
    const sources = ["mcp", "cli", "inspector", "redis"].flatMap((name) => {
      const folder = `packages/${name}/src`;
      return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((path) => `${folder}/${path}`);
    });
    const naming = sources.filter(
      (path) => /(?<!\.test)\.ts$/.test(path) && readFileSync(join(root, path), "utf8").includes('"2026-07-28"'),
    );
    expect(naming.length).toBeGreaterThan(3);
    expect(naming.filter((path) => !page.includes(path.replaceAll("\\", "/")))).toEqual([]);
  });

  it("names every file of both eras", () => {
    for (const era of ["stateful", "stateless"]) {
      const files = readdirSync(join(root, "packages/mcp/src/era", era)).filter((name) => !name.endsWith(".test.ts"));
      expect(files.filter((name) => !page.includes(`era/${era}/${name}`))).toEqual([]);
      expect(files.toSorted()).toEqual(["client.ts", "downgrade.ts", "server.ts", "tasks.ts"]);
    }
  });
});
