import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { connect, McpError, Server } from "@parley/mcp";
import { type SkillDefinition, skill, skills, skillsExtension } from "@parley/mcp/skills";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const info = { name: "s", version: "1" };
const manifest = (name: string) => `---\nname: ${name}\ndescription: Does ${name}\n---\nDo it.\n`;

let place = "";
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "parley-nested-"));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

function write(path: string, content: string): void {
  mkdirSync(dirname(join(place, path)), { recursive: true });
  writeFileSync(join(place, path), content);
}

const open = (...sources: Parameters<typeof skills>) =>
  connect(new Server(info, { extensions: [skills(...sources)], pageSize: 2 }), { extensions: [skillsExtension] });

/** The error that a server with these skills throws. */
function refusal(...sources: Parameters<typeof skills>): McpError {
  try {
    new Server(info, { extensions: [skills(...sources)] });
  } catch (error) {
    return McpError.from(error);
  }
  throw new Error("it was served");
}

describe("skills below folders of a folder", () => {
  beforeEach(() => {
    write("acme/billing/refunds/SKILL.md", manifest("refunds"));
    write("acme/billing/refunds/examples/email.md", "Dear customer\n");
    write("acme/support/refunds/SKILL.md", manifest("refunds"));
    write("acme/Open Questions/faq/SKILL.md", manifest("faq"));
    write("git-workflow/SKILL.md", manifest("git-workflow"));
  });

  it("SEP-2640: have the folders as a prefix of their path, and may have the same name", async () => {
    await using client = await open(place);
    const offered = client.extension(skillsExtension);
    const uris: string[] = [];
    for await (const { uri } of offered.list()) uris.push(uri);
    expect(uris).toEqual([
      "skill://acme/Open%20Questions/faq/SKILL.md",
      "skill://acme/billing/refunds/SKILL.md",
      "skill://acme/support/refunds/SKILL.md",
      "skill://git-workflow/SKILL.md",
    ]);
    const resources = (await client.allResources()).map(({ uri, name }) => [uri, name]);
    expect(resources).toContainEqual(["skill://acme/billing/refunds/SKILL.md", "refunds"]);
  });

  it("SEP-2640: are loaded, verified and read like any other", async () => {
    await using client = await open(place);
    const offered = client.extension(skillsExtension);
    const loaded = await offered.load("skill://acme/billing/refunds/SKILL.md");
    expect(loaded.entry.frontmatter.name).toBe("refunds");
    expect(loaded.paths).toEqual(["SKILL.md", "examples/email.md"]);
    expect((await loaded.read("examples/email.md")).text).toBe("Dear customer\n");
    expect((await loaded.read("skill://acme/billing/refunds/examples/email.md")).text).toBe("Dear customer\n");
    for (const outside of ["../../support/refunds/SKILL.md", "skill://acme/support/refunds/SKILL.md"])
      await expect(loaded.read(outside)).rejects.toThrow(/is not a file of the skill/);
    const faq = await offered.load("skill://acme/Open%20Questions/faq/SKILL.md");
    expect(faq.body).toBe("Do it.\n");
    for (const uri of ["skill://acme/SKILL.md", "skill://refunds/SKILL.md", "skill://acme/billing/SKILL.md"])
      await expect(offered.get(uri), uri).rejects.toMatchObject({ kind: "invalid_params" });
  });

  it("SEP-2640: have directories above them", async () => {
    await using client = await open(place);
    const offered = client.extension(skillsExtension);
    const children = async (uri: string) => {
      const found: [string, string | undefined][] = [];
      for await (const child of offered.directory(uri)) found.push([child.name, child.mimeType]);
      return found;
    };
    expect(await children("skill://acme")).toEqual([
      ["Open Questions", "inode/directory"],
      ["billing", "inode/directory"],
      ["support", "inode/directory"],
    ]);
    expect(await children("skill://acme/billing")).toEqual([["refunds", "inode/directory"]]);
    expect(await children("skill://acme/billing/refunds")).toEqual([
      ["refunds", "text/markdown"],
      ["examples", "inode/directory"],
    ]);
    for (const uri of ["skill://acme/", "skill://acme/none", "skill://acme/..", "skill://"])
      await expect(children(uri), uri).rejects.toMatchObject({ kind: "invalid_params" });
  });

  it.each<[string, () => unknown, RegExp]>([
    [
      "a folder without a skill",
      () => mkdirSync(join(place, "acme/empty/deep"), { recursive: true }),
      /acme\/empty\/deep has no SKILL\.md, and no folder with one/,
    ],
    ["a link", () => symlinkSync(join(place, "git-workflow"), join(place, "acme/link")), /acme\/link is a link/],
    ["a loop of links", () => symlinkSync("..", join(place, "acme/up")), /acme\/up is a link/],
    ["too many folders", () => write(`${"d/".repeat(16)}deep/SKILL.md`, manifest("deep")), /more than 15 folders deep/],
    ["two spellings of a folder", () => write("Acme/other/SKILL.md", manifest("other")), /collides with/],
    ["a folder with a name of a device", () => write("nul/x/SKILL.md", manifest("x")), /name of a Windows device/],
    ["a folder with a backslash", () => write("a\\b/x/SKILL.md", manifest("x")), /backslash/],
    [
      "another name than that of the folder",
      () => write("acme/x/SKILL.md", manifest("y")),
      /differs from the name of its folder, "x"/,
    ],
  ])("SEP-2640: are refused with %s", (_what, change, message) => {
    change();
    expect(refusal(place)).toMatchObject({ kind: "invalid_definition", message: expect.stringMatching(message) });
  });
});

describe("skills as values with a prefix", () => {
  const refunds: SkillDefinition = { name: "refunds", description: "Refunds", body: "Do it.\n" };

  it("SEP-2640: are served below it", async () => {
    await using client = await open(skill({ ...refunds, prefix: "acme/billing" }), skill(refunds));
    const { contents } = await client.readResource("skill://acme/billing/refunds/SKILL.md");
    expect(contents).toMatchObject([{ text: expect.stringContaining("Do it.") }]);
    expect((await client.readResource("skill://refunds/SKILL.md")).contents).toHaveLength(1);
  });

  it.each(["", "/", "acme/", "/acme", "a//b", "..", "a/../b", "a\\b", "C:", "x%2e", "con", "d/".repeat(20), 5, null])(
    "refuses the prefix %j",
    (prefix) => {
      expect(() => skill({ ...refunds, prefix } as SkillDefinition)).toThrow(McpError);
    },
  );

  it("collide at one place, and in other spellings of it", () => {
    const acme = skill({ ...refunds, prefix: "acme" });
    expect(refusal(acme, acme).message).toBe('two skills have the path "acme/refunds"');
    expect(refusal(acme, skill({ ...refunds, prefix: "ACME" })).message).toMatch(
      /"ACME\/refunds" collides with "acme"/,
    );
  });

  it("SEP-2640: may lie in another skill only with the same files in both", async () => {
    const inner = skill({ name: "inner", prefix: "outer", description: "Inner", body: "In.\n" });
    const text = inner.files.get("SKILL.md") as string;
    const outer = (files: Record<string, string>) =>
      skill({ name: "outer", description: "Outer", body: "Out.\n", files });
    await using client = await open(outer({ "inner/SKILL.md": text }), inner);
    const offered = client.extension(skillsExtension);
    expect((await offered.load("skill://outer/inner/SKILL.md")).body).toBe("In.\n");
    expect((await offered.load("skill://outer/SKILL.md")).paths).toEqual(["SKILL.md", "inner/SKILL.md"]);
    const lies = /"outer\/inner" is inside the skill "outer", but skill:\/\/outer\/inner\/\S+ differs between them/;
    for (const files of [{}, { "inner/SKILL.md": `${text}!` }, { "inner/SKILL.md": text, "inner/more.md": "" }])
      expect(refusal(outer(files), inner).message).toMatch(lies);
  });

  it("are read again as a whole", async () => {
    write("acme/one/SKILL.md", manifest("one"));
    const extension = skills(place);
    const server = new Server(info, { extensions: [extension] });
    await using client = await connect(server);
    write("acme/two/SKILL.md", manifest("two"));
    extension.reload();
    expect((await client.readResource("skill://acme/two/SKILL.md")).contents).toHaveLength(1);
    rmSync(join(place, "acme/one"), { recursive: true });
    extension.reload();
    await expect(client.readResource("skill://acme/one/SKILL.md")).rejects.toMatchObject({
      kind: "resource_not_found",
    });
  });
});
