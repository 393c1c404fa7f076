import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { McpError, Server } from "@parley/mcp";
import { type SkillDefinition, skill, skills, skillsExtension } from "@parley/mcp/skills";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { platform } from "../../../src/node/platform.js";
import type { Files } from "../../../src/platform/platform.js";

const info = { name: "s", version: "1" };
const MANIFEST = "---\nname: pdf\ndescription: Works\n---\nDo it.\n";
const SECRET = "not for clients";

let place = "";
let folder = "";
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "parley-refused-"));
  folder = join(place, "skills");
  write("pdf/SKILL.md", MANIFEST);
  mkdirSync(join(place, "outside"));
  writeFileSync(join(place, "outside/secret.md"), SECRET);
  writeFileSync(join(place, "outside/SKILL.md"), MANIFEST);
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}
const link = (target: string, path: string) => symlinkSync(target, join(folder, path));
const manifest = (frontmatter: string) => () => write("pdf/SKILL.md", `---\n${frontmatter}\n---\n`);

/** What each makes of the folder, and what the refusal names. */
const FOLDERS: readonly [string, () => unknown, RegExp][] = [
  [
    "a link to a file outside",
    () => link("../../outside/secret.md", "pdf/x.md"),
    /pdf\/x\.md is a link that points outside/,
  ],
  [
    "an absolute link",
    () => link(join(place, "outside/secret.md"), "pdf/x.md"),
    /pdf\/x\.md is a link that points outside/,
  ],
  ["a link to a sibling skill", () => [write("zz/SKILL.md", ""), link("../zz/SKILL.md", "pdf/x.md")], /points outside/],
  ["a link to a folder whose name begins alike", sibling, /pdf\/x\.md is a link that points outside/],
  [
    "a link through a link",
    () => [link("../../outside", "pdf/a"), link("a/secret.md", "pdf/b.md")],
    /pdf\/a is a link/,
  ],
  ["a link to the folder above", () => link("..", "pdf/up"), /pdf\/up is a link that points outside/],
  ["a link to its own folder", () => [write("pdf/a/x.md", ""), link("..", "pdf/a/loop")], /loop (?:is|leads)/],
  ["a link to a folder inside", () => [write("pdf/a/x.md", ""), link("a", "pdf/b")], /pdf\/b is not a regular file/],
  ["a link to itself", () => link("loop.md", "pdf/loop.md"), /loop\.md/],
  ["a broken link", () => link("nowhere", "pdf/x.md"), /x\.md/],
  ["a skill that is a link", () => link("../outside", "outside"), /skills\/outside is a link/],
  ["a SKILL.md that is a link", manifestLink, /SKILL\.md is a link that points outside/],
  ["a link to a device", () => link("/dev/zero", "pdf/zero"), /pdf\/zero is a link that points outside/],
  ["a pipe", () => execFileSync("mkfifo", [join(folder, "pdf/pipe")]), /pdf\/pipe is not a regular file/],
  ["a backslash", () => write("pdf/a\\b.md", ""), /a\\b\.md contains a backslash/],
  ["a drive letter", () => write("pdf/C:x.md", ""), /C:x\.md contains a backslash or a colon/],
  ["encoded dots", () => write("pdf/%2e%2e", ""), /%2e%2e contains an encoded dot/],
  ["an encoded slash", () => write("pdf/a%2Fx", ""), /contains an encoded dot, slash/],
  ["an encoded NUL", () => write("pdf/x%00.md", ""), /contains an encoded/],
  ["a dot at the end", () => write("pdf/x.", ""), /ends with a dot or a space/],
  ["a space at the end", () => write("pdf/x ", ""), /ends with a dot or a space/],
  ["a folder with a space at its end", () => write("pdf/a /x.md", ""), /ends with a dot or a space/],
  ["a line break", () => write("pdf/a\nb", ""), /contains a control character/],
  ["an escape", () => write("pdf/\u001b[31m", ""), /contains a control character/],
  ["the name of a device", () => write("pdf/NUL.txt", ""), /NUL\.txt has the name of a Windows device/],
  [
    "bytes that are no text",
    () => writeFileSync(Buffer.concat([Buffer.from(`${folder}/pdf/`), Buffer.of(255)]), ""),
    /not valid Unicode/,
  ],
  ["two names in other case", () => [write("pdf/a.md", ""), write("pdf/A.md", "")], /"a\.md" collides with "A\.md"/],
  ["two folders in other case", () => [write("pdf/a/x", ""), write("pdf/A/y", "")], /collides/],
  ["two forms of one letter", () => [write("pdf/\u00e9", ""), write("pdf/e\u0301", "")], /collides/],
  ["a second SKILL.md in other case", () => write("pdf/skill.md", ""), /"skill\.md" collides with "SKILL\.md"/],
  ["too many files", () => Array.from({ length: 512 }, (_, n) => write(`pdf/${n}`, "")), /has more than 512 files/],
  [
    "too many bytes in one file",
    () => sparse("pdf/x", 16 * 1024 * 1024),
    /pdf\/x makes the skill larger than 16777216/,
  ],
  ["too many bytes in all", () => [1, 2, 3].map((n) => sparse(`pdf/${n}`, 6 * 1024 * 1024)), /pdf\/3 makes the skill/],
  ["too many folders", () => write(`pdf/${"d/".repeat(20)}x`, ""), /folders deep/],
  ["no SKILL.md", () => write("other/readme.md", ""), /skills\/other has no SKILL\.md/],
  ["a SKILL.md that is a folder", () => mkdirSync(join(folder, "other/SKILL.md"), { recursive: true }), /SKILL\.md/],
  ["no frontmatter", () => write("pdf/SKILL.md", "# PDF\n"), /skills\/pdf is refused: SKILL\.md: line 1/],
  ["frontmatter without an end", () => write("pdf/SKILL.md", "---\nname: pdf\n"), /is not closed/],
  [
    "frontmatter that is too long",
    manifest(`name: pdf\ndescription: x\nz: "${"x".repeat(70_000)}"`),
    /longer than 65536/,
  ],
  ["frontmatter that is no YAML", manifest("name: pdf\ndescription: a: b"), /SKILL\.md: line 3: text with a colon/],
  ["an alias bomb", manifest("a: &a [x]\nb: &b [*a, *a]"), /line 2: anchors/],
  ["a name twice", manifest("name: pdf\nname: pdf\ndescription: x"), /line 3: the key "name" occurs twice/],
  ["another name", manifest("name: doc\ndescription: x"), /its name "doc" differs from the name of its folder, "pdf"/],
  ["no name", manifest("description: x"), /it has no name/],
  ["a name that is a number", manifest("name: 5\ndescription: x"), /it has no name/],
  ["no description", manifest("name: pdf"), /it has no description/],
  ["an empty description", manifest("name: pdf\ndescription: ' '"), /it has no description/],
  ["a long description", manifest(`name: pdf\ndescription: ${"x".repeat(1025)}`), /longer than 1024/],
  ["a list as metadata", manifest("name: pdf\ndescription: x\nmetadata: [a]"), /metadata is not a map/],
  ["reserved metadata", manifest("name: pdf\ndescription: x\nmetadata: {io.modelcontextprotocol/x: a}"), /reserves/],
  ["a SKILL.md that is no text", () => write("pdf/SKILL.md", Uint8Array.of(45, 45, 45, 10, 255)), /text in UTF-8/],
];

function sibling(): void {
  writeFileSync(join(place, "skills", "pdf-secret.md"), SECRET);
  link("../pdf-secret.md", "pdf/x.md");
}
function manifestLink(): void {
  rmSync(join(folder, "pdf/SKILL.md"));
  link("../../outside/SKILL.md", "pdf/SKILL.md");
}
function sparse(path: string, bytes: number): void {
  write(path, "");
  truncateSync(join(folder, path), bytes);
}

function large(name: string): void {
  write(`${name}/SKILL.md`, MANIFEST.replace("pdf", name));
  sparse(`${name}/x`, 15 * 1024 * 1024);
}

const refusal = (make: () => unknown): McpError => {
  try {
    make();
  } catch (error) {
    return McpError.from(error);
  }
  throw new Error("nothing was refused");
};

describe("a folder of skills is refused when the server is made (SEP-2640), for", () => {
  it.each(FOLDERS)("%s", (_what, prepare, message) => {
    prepare();
    const error = refusal(() => new Server(info, { extensions: [skills(folder)] }));
    expect(error.message.replaceAll("\\n", "\n")).toMatch(message);
    expect(["invalid_definition", "limit_exceeded"]).toContain(error.kind);
    expect(error.fix).not.toBe("");
    expect(error.message).not.toContain(SECRET);
  });

  it("a socket", async () => {
    const socket = createServer().listen(join(folder, "pdf/s"));
    await new Promise((resolve) => socket.once("listening", resolve));
    expect(refusal(() => new Server(info, { extensions: [skills(folder)] })).message).toMatch(
      /pdf\/s is not a regular/,
    );
    socket.close();
  });

  it("a folder that does not exist, is a file, or holds no skill", () => {
    const of = (path: string) => refusal(() => new Server(info, { extensions: [skills(path)] })).message;
    expect(of(join(place, "none"))).toMatch(/none/);
    expect(of(join(folder, "pdf/SKILL.md"))).toMatch(/cannot be read/);
    mkdirSync(join(place, "empty"));
    expect(of(join(place, "empty"))).toMatch(/has no SKILL\.md, and no folder with one/);
  });

  it.each<[string, (files: Files) => Partial<Files>]>([
    [
      "replaced by another file",
      (fs) => ({ openSync: (_path, flags) => fs.openSync(join(place, "outside/SKILL.md"), flags) }),
    ],
    [
      "cut",
      (fs) => ({
        openSync(path, flags) {
          truncateSync(path, 1);
          return fs.openSync(path, flags);
        },
      }),
    ],
    [
      "replaced by a link",
      (fs) => ({
        openSync(path, flags) {
          rmSync(path);
          symlinkSync(join(place, "outside/SKILL.md"), path);
          return fs.openSync(path, flags);
        },
      }),
    ],
  ])("a file that is %s while it is read", (_what, change) => {
    const files = platform.files?.() as Files;
    const changed = { ...files, ...change(files) };
    const options = { platform: { files: () => changed }, extensions: [skills(folder)] };
    expect(refusal(() => new Server(info, options)).message).toMatch(/SKILL\.md changed|ELOOP/);
  });

  it.each([
    ["a folder of a skill", "/pdf/refs", "a link"],
    ["a folder of a skill", "/pdf/refs", "another folder"],
    ["a skill", "/pdf", "a link"],
    ["a skill", "/pdf", "another folder"],
  ])("%s (%s) that is replaced by %s while it is read", (_what, end, by) => {
    write("pdf/refs/a.md", "");
    for (const name of ["a.md", "refs/a.md"]) {
      mkdirSync(join(place, "outside/refs"), { recursive: true });
      writeFileSync(join(place, "outside", name), SECRET);
    }
    const files = platform.files?.() as Files;
    let listings = 0;
    const changing: Files = {
      ...files,
      readdirSync(path) {
        // The skill is listed once to look for its SKILL.md; its status is known then, as that of its folder is here.
        if (path.endsWith(end) && ++listings === (end === "/pdf" ? 2 : 1)) {
          renameSync(path, join(place, "old"));
          if (by === "a link") symlinkSync(join(place, "outside"), path);
          else renameSync(join(place, "outside"), path);
        }
        return files.readdirSync(path);
      },
    };
    const options = { platform: { files: () => changing }, extensions: [skills(folder)] };
    expect(refusal(() => new Server(info, options)).message).toMatch(/pdf\S* changed while it was read/);
  });

  it.each<[string, () => unknown, number, RegExp]>([
    [
      "skills",
      () => Array.from({ length: 1001 }, (_, n) => write(`s${n}/SKILL.md`, MANIFEST.replace("pdf", `s${n}`))),
      1000,
      /at most 1000 skills/,
    ],
    ["bytes", () => Array.from({ length: 18 }, (_, n) => large(`s${n}`)), 36, /at most 268435456 bytes/],
  ])("too many %s in all, before more of them are read", (_what, prepare, most, message) => {
    prepare();
    const files = platform.files?.() as Files;
    let opened = 0;
    const counted: Files = {
      ...files,
      openSync(path, flags) {
        opened++;
        return files.openSync(path, flags);
      },
    };
    const options = { platform: { files: () => counted }, extensions: [skills(folder)] };
    expect(refusal(() => new Server(info, options))).toMatchObject({
      kind: "limit_exceeded",
      message: expect.stringMatching(message),
    });
    expect(opened).toBe(most);
  });

  it("a runtime without files, which can have skills as values", () => {
    const web = { platform: { files: undefined } };
    expect(refusal(() => new Server(info, { ...web, extensions: [skills(folder)] }))).toMatchObject({
      kind: "unsupported",
      fix: "Pass the skills as values made by `skill`.",
    });
    new Server(info, { ...web, extensions: [skills(skill({ name: "a", description: "b", body: "c" }))] });
  });
});

it("a folder may hold links that stay in their skill, hidden files, and be given itself by a link", () => {
  write("pdf/a/x.md", "x");
  link("a/x.md", "pdf/same.md");
  write(".git/config", SECRET);
  write("pdf/.env", SECRET);
  symlinkSync(folder, join(place, "given"));
  new Server(info, { extensions: [skills(join(place, "given"))] });
});

describe("a skill as a value is refused (SEP-2640), for", () => {
  const good = { name: "pdf", description: "Works", body: "" };
  it.each<[string, object, RegExp]>([
    ...["", "PDF", "a_b", "-a", "a-", "a--b", "a/b", "..", "é", "a".repeat(65)].map(
      (name): [string, object, RegExp] => [`the name ${JSON.stringify(name)}`, { name }, /name/],
    ),
    ["a description of another type", { description: 5 }, /description/],
    ["a body of another type", { body: 5 }, /body/],
    ["an option that does not exist", { instructions: "" }, /not an option of skill/],
    ...["../x", "a/../x", "/x", "a//b", "", ".", "./x", "a\0b", "a\\b", "C:/x", "x.", "%2e%2e/x", "con"].map(
      (path): [string, object, RegExp] => [`the path ${JSON.stringify(path)}`, { files: { [path]: "" } }, /the path/],
    ),
    ["a second SKILL.md", { files: { "SKILL.md": "" } }, /collides/],
    ["a file that is a folder too", { files: { a: "", "a/b": "" } }, /collides/],
    ["paths in other case", { files: { "a/x": "", "A/y": "" } }, /collides/],
    ["a file without content", { files: { a: 5 } }, /has no string/],
    ["frontmatter that is no JSON", { frontmatter: { a: 1n } }, /JSON/],
  ])("%s", (_what, change, message) => {
    expect(refusal(() => skill({ ...good, ...change } as SkillDefinition)).message).toMatch(message);
  });

  it("its size, and a name that is taken", () => {
    const of = (...sources: Parameters<typeof skills>) =>
      refusal(() => new Server(info, { extensions: [skills(...sources)] }));
    expect(of(skill({ ...good, body: "x".repeat(17_000_000) }))).toMatchObject({ kind: "limit_exceeded" });
    const files = Object.fromEntries(Array.from({ length: 512 }, (_, n) => [`${n}`, ""]));
    expect(of(skill({ ...good, files })).message).toMatch(/at most 512/);
    expect(of(skill(good), skill(good)).message).toMatch(/two skills have the path "pdf"/);
  });

  it("anything else in its place", () => {
    for (const given of [[], [{}], [5], [null], [skill(good), {}, skill(good)], [skill(good), { directory: true }]])
      expect(() => skills(...(given as never[])), JSON.stringify(given)).toThrow(McpError);
    expect(() => new Server(info, { extensions: [skillsExtension] })).toThrow(/is for clients/);
  });
});
