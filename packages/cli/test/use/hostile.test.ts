import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleParley } from "../kit/bundle-parley.js";
import { type RunOptions, runParley } from "../kit/run-parley.js";
import { noScreen, Screen } from "../kit/screen.js";

const program = fileURLToPath(new URL("hostile-program.mjs", import.meta.url));
const hostile = ["--", process.execPath, program];

/** Colours, which are our own; everything else that a terminal obeys is the server's. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const OWN_COLOURS = /\u001b\[(?:\d{1,2}(?:;\d{1,2})*)?m/g;
/** What the status line is drawn with. */
const STATUS = "\r\u001b[2K";
/** C0 but line feed and tab, DEL, C1, and what turns or breaks lines. */
const ACTIVE = /(?![\n\t])[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

function active(text: string): string | undefined {
  const found = ACTIVE.exec(text);
  return found === null ? undefined : JSON.stringify(text.slice(Math.max(0, found.index - 40), found.index + 20));
}

/** Command lines that lead a server to say something in each way that it can. */
const LINES: readonly (readonly string[])[] = [
  ["list"],
  ["list", "--long"],
  ["info"],
  ["search", "more"],
  ["search", "more", "--detail", "full"],
  ["call", "blocks"],
  ["call", "failing"],
  ["call", "refusing"],
  ["call", "form"],
  ["call", "form", "--answer", "choice=x"],
  ["call", "sampling"],
  ["call", "needy"],
  ["call", "mistyped"],
  ["call", "mistyped", "q=1"],
  ["call", "needy", "wrong=1"],
  ["call", "unheard"],
  ["read", "x:y"],
  ["prompt", "unheard"],
  ["complete", "p", "a", "b"],
  ["subscribe", "x:y", "--count", "1", "--read"],
];

describe("a server that says what terminals obey", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "parley-hostile-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const modes: readonly (readonly [string, readonly string[], RunOptions])[] = [
    ["for programs", ["--json"], {}],
    ["for people, in colours", [], { env: { FORCE_COLOR: "1", PATH: process.env["PATH"] } }],
    ["with every message shown", ["--debug"], {}],
  ];
  describe.each(modes)("%s", (_name, options, run) => {
    it.each(LINES.map((line) => [line]))("reaches no terminal by %j", async (line) => {
      const { stdout, stderr } = await runParley([...line, ...options, ...hostile], { cwd: folder, ...run });
      expect(`${stdout}${stderr}`).toMatch(/evil|pwned/);
      expect(active(stdout.replace(OWN_COLOURS, ""))).toBeUndefined();
      expect(active(stderr.replace(OWN_COLOURS, ""))).toBeUndefined();
      // The server's own colours are none of ours.
      expect(`${stdout}${stderr}`).not.toContain("\u001b[31;5m");
    });
  });

  it("reports progress without the server's characters", async () => {
    const { stderr } = await runParley(["call", "slow", "--debug", ...hostile], { cwd: folder });
    expect(stderr).toMatch(/^━+─* +33 % .*pwned/m);
    expect(stderr).toMatch(/^stderr: .*pwned/m);
    expect(active(stderr)).toBeUndefined();
  });

  it("shows a prompt whose name is hostile", async () => {
    const { stdout: listed } = await runParley(["list", "prompts", "--json", ...hostile], { cwd: folder });
    const { prompts } = JSON.parse(listed) as { prompts: { name: string }[] };
    const { code, stdout, stderr } = await runParley(["prompt", prompts[0]?.name ?? "", ...hostile], { cwd: folder });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^user:\nline\n.*pwned.*\n\tend\n$/);
    expect(active(stdout + stderr)).toBeUndefined();
  });

  it("draws progress without the server's characters", async () => {
    // Without a terminal on stdin nobody is asked, and the line of progress is drawn all the same.
    const { stderr } = await runParley(["call", "slow", ...hostile], { cwd: folder, tty: true, columns: 200 });
    expect(stderr).toContain(STATUS);
    expect(stderr).toContain("pwned");
    expect(active(stderr.replaceAll(STATUS, "").replace(OWN_COLOURS, ""))).toBeUndefined();
  });

  it("gives files names of its own", async () => {
    const own = join(folder, "own");
    await runParley(["call", "blocks", "-o", "own/", ...hostile], { cwd: folder });
    expect(readdirSync(own)).toEqual(["blocks.bin"]);
  });

  it.each([[[]], [["--json"]]])("shows the last words of one that dies, with %j", async (options) => {
    const { code, stdout, stderr } = await runParley(["list", ...options, ...hostile, "die"], { cwd: folder });
    expect(code).toBe(3);
    expect(`${stdout}${stderr}`).toContain("pwned");
    expect(active(stdout)).toBeUndefined();
    expect(active(stderr)).toBeUndefined();
  });
});

if (noScreen !== undefined) console.log(`hostile forms are not tried on a terminal: ${noScreen}`);

describe.skipIf(noScreen !== undefined)("forms of a server that says what terminals obey", () => {
  /** What the library of prompts draws with: cursor, erasure, colours. */
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  const DRAWN = /\u001b\[(?:\?25[hl]|\d{0,3}[ABCDGJK]|[HJ]|[23]J|\d{1,2}(?:;\d{1,2})*m|m)|\r/g;

  /** What stands before a question that hears keys; those that come earlier are taken for lines. */
  const HEARS = /[◆▲]/;

  it.each([
    ["form", "Do you want to answer?", ["Enter", "x", "Enter", "Enter", "Enter"]],
    ["sampling", "in place of a model?", ["Enter", "x", "Enter"]],
    ["needy", "needs:", ["x", "Enter"]],
    ["mistyped", "needs:", ["x", "Enter", "Escape"]],
  ])("draw %s without its characters", async (tool, first, keys) => {
    const env = { HOME: "/nonexistent" };
    await using screen = new Screen([process.execPath, await bundleParley(), "call", tool, ...hostile], { env });
    await screen.shows(first);
    let before = await screen.shows(HEARS);
    for (const key of keys) {
      screen.press(key);
      // Each key changes the question, or leads to the next one, or ends the program.
      await expect.poll(() => screen.text() !== before && (screen.hasEnded || HEARS.test(screen.text()))).toBe(true);
      before = screen.text();
    }
    await screen.ended();
    const bytes = screen.bytes().toString();
    expect(bytes).toContain("pwned");
    expect(bytes).not.toContain("\u001b[31;5m");
    // The first screen is cleared by the shell.
    expect(bytes.split("\u001b[2J").length).toBe(2);
    expect(active(bytes.replace(DRAWN, ""))).toBeUndefined();
  });
});
