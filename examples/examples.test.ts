import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { NEWER_NODES } from "../packages/mcp/test/sqlite/newer-nodes.js";
import { bundleFixture } from "../packages/mcp/test/stdio/bundle-fixture.js";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "..");

/** Stories for a Node that has `node:sqlite`. */
const NEEDS_SQLITE = new Set(["cores", "sqlite-source"]);

/** What each story prints, line by line. */
const STORIES: Record<string, readonly string[]> = {
  apps: [
    "model    show_tides",
    "page     show_tides, refresh",
    "reads    ui://tides/chart, 4 lines",
    "asks for geolocation",
    "policy   default-src 'none'",
    "policy   script-src 'self' 'unsafe-inline' https://fonts.example.com",
    "policy   style-src 'self' 'unsafe-inline' https://fonts.example.com",
    'shown    {"heights":[0.9,1.6,1.1]}',
    "told     Bergen: 0.9, 1.6, 1.1 m",
  ],
  booking: [
    "speaks   2025-11-25",
    "asked    Which seat?",
    "asked    Anything else?",
    "asked    Pay 45?",
    'booked   {"ticket":"Oslo-1 window bike","price":45}',
    "speaks   2026-07-28",
    "asked    Which seat?",
    "asked    Anything else?",
    "asked    Pay 45?",
    'booked   {"ticket":"Oslo-2 window bike","price":45}',
    "speaks   2026-07-28",
    "asked    Which seat?",
    "asked    Anything else?",
    "asked    Pay 45?",
    'failed   [{"type":"text","text":"Nothing was booked."}]',
    "held     Oslo-1, Oslo-2",
  ],
  cores: [
    "answered by several workers, in one session",
    "killed   one; the others answer: true",
    "replaced by a new one",
    "stopped  after finished",
  ],
  files: [
    "listed   folder:///todo.txt",
    "read     buy bread",
    'refused  the variable "name" of folder:///{name} leads out of its folder',
    "changed  bake bread",
  ],
  generated: [
    "cities   Bergen and Oslo",
    "progress asked for Oslo",
    "code     3, 4",
    "direct   7, 9, 8",
    "warmest  Bergen",
    "failed   tool_error",
    "failed   tool_error",
    "others   1 message, climate://Bergen",
  ],
  host: [
    "tools    clock__time, bank__pay",
    "time     noon",
    "bill     paid",
    "found    bank__pay",
    'mail     "no-such-mail-server" was not found',
    "gateway  not paid",
  ],
  middleware: [
    "audit    tools/call tell: ok",
    "told     You will read more documentation.",
    "audit    tools/call tell: ok",
    "told     You will read more documentation.",
    "audit    tools/call tell: limit_exceeded",
    "told     anonymous has used up 2 calls",
  ],
  mounting: ["page     a page", "time     noon", "stranger auth_required", "member   Ada"],
  skills: [
    "listed   skill://release-notes/SKILL.md: Writes release notes. Use it when the user asks what has changed.",
    "loaded   # Release notes",
    "files    SKILL.md, templates/notes.md",
    "read     ## {version}",
    "refused  skill://release-notes/templates/notes.md cannot be used: it has 22 bytes, but the entry states 25",
    "again    ## {version}: {title}",
  ],
  "sqlite-source": [
    "speaks   2025-11-25",
    "tools    books_set, books_find",
    "page     100 rows, then more: true",
    "rows     250",
    "written  table:///books/123",
    'changed  {"isbn":"123","title":"Seen in 2025-11-25","year":2026}',
    'found    [{"isbn":"123","title":"Seen in 2025-11-25","year":2026}]',
    'refused  Invalid arguments for tool "books_set": must have the property "title"; /year: must be integer, not string',
    "speaks   2026-07-28",
    "tools    books_set, books_find",
    "page     100 rows, then more: true",
    "rows     250",
    "written  table:///books/123",
    'changed  {"isbn":"123","title":"Seen in 2026-07-28","year":2026}',
    'found    [{"isbn":"123","title":"Seen in 2026-07-28","year":2026}]',
    'refused  Invalid arguments for tool "books_set": must have the property "title"; /year: must be integer, not string',
  ],
  tasks: [
    "speaks   2025-11-25",
    "status   input_required",
    "asked    Which format?",
    "result   1200 rows of 2026 as pdf",
    "done     count 2026, write pdf",
    "speaks   2026-07-28",
    "status   input_required",
    "asked    Which format?",
    "result   1200 rows of 2026 as pdf",
    "done     count 2026, write pdf",
  ],
  stdio: ["speaks   2026-07-28", "result   5", "stderr   adding 2 and 3"],
};

describe("the example", () => {
  it.for(Object.entries(STORIES))("%s tells its story and ends", async ([folder, lines], { skip }) => {
    const program = await bundleFixture(new URL(`${folder}/main.ts`, import.meta.url));
    const node = NEEDS_SQLITE.has(folder) ? NEWER_NODES.find(({ installed }) => installed)?.binary : process.execPath;
    if (node === undefined) return skip("this Node has no SQLite, and no other one is installed (npm run runtimes)");
    const { stdout } = await run(node, [program], { timeout: 60_000 });
    expect(stdout.trimEnd().split("\n")).toEqual(lines);
  });

  const built = existsSync(join(root, "packages/cli/dist"));
  it.skipIf(!built)("command-line, which `npm start` runs, fits on a screen and names what to do next", async () => {
    const args = ["scripts/run-ts.mjs", "examples/command-line/main.ts"];
    const { stdout, stderr } = await run(process.execPath, args, { cwd: root, timeout: 60_000 });
    const lines = stdout.trimEnd().split("\n");
    expect(stderr).toBe("");
    expect(lines.length).toBeLessThanOrEqual(60);
    expect(lines.filter((line) => line.startsWith("$ ")).map((line) => line.split(" ").slice(1, 3).join(" "))).toEqual(
      ["info", "list", "call", "call", "call"].map((command) => `parley ${command}`),
    );
    expect(lines).toEqual(expect.arrayContaining(["receipt 1 for Ada", "receipt 2 for Bob", "Next:"]));
    expect(stdout).not.toContain("npx parley");
  });
});
