import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, Server } from "@parley/mcp";
import { skills, skillsExtension } from "@parley/mcp/skills";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const info = { name: "s", version: "1" };

let place = "";
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "parley-reload-"));
  write("x", "one");
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

function write(name: string, description: string): void {
  mkdirSync(join(place, name), { recursive: true });
  writeFileSync(join(place, name, "SKILL.md"), `---\nname: ${name}\ndescription: ${description}\n---\n`);
}

/** The skills that are listed, and the resources. */
async function offered(server: Server): Promise<[string[], string[]]> {
  await using client = await connect(server, { extensions: [skillsExtension] });
  const listed: string[] = [];
  for await (const { frontmatter } of client.extension(skillsExtension).list())
    listed.push(`${frontmatter.name} ${frontmatter.description}`);
  const resources = (await client.allResources()).map(({ uri, description = "-" }) => `${uri} ${description}`);
  return [listed.sort(), resources.sort()];
}

describe("reading skills again", () => {
  it("changes nothing if a new skill has the URI of another resource", async () => {
    const extension = skills(place);
    const server = new Server(info, { extensions: [extension] }).resource("skill://y/SKILL.md", {}, () => "mine");
    write("a", "is new");
    write("x", "two");
    write("y", "is new");
    expect(() => extension.reload()).toThrow(/skill:\/\/y\/SKILL\.md/);
    expect(await offered(server)).toEqual([["x one"], ["skill://x/SKILL.md one", "skill://y/SKILL.md -"]]);
    await using client = await connect(server);
    expect((await client.readResource("skill://y/SKILL.md")).contents).toMatchObject([{ text: "mine" }]);
    server.remove("resource", "skill://y/SKILL.md");
    extension.reload();
    expect(await offered(server)).toEqual([
      ["a is new", "x two", "y is new"],
      ["skill://a/SKILL.md is new", "skill://x/SKILL.md two", "skill://y/SKILL.md is new"],
    ]);
  });

  it("changes all servers or none", async () => {
    const extension = skills(place);
    const first = new Server(info, { extensions: [extension] });
    const second = new Server(info, { extensions: [extension] }).resource("skill://y/SKILL.md", {}, () => "mine");
    write("x", "two");
    write("y", "is new");
    expect(() => extension.reload()).toThrow(/skill:\/\/y\/SKILL\.md/);
    expect(await offered(first)).toEqual([["x one"], ["skill://x/SKILL.md one"]]);
    expect(await offered(second)).toEqual([["x one"], ["skill://x/SKILL.md one", "skill://y/SKILL.md -"]]);
    rmSync(join(place, "y"), { recursive: true });
    extension.reload();
    expect((await offered(first))[0]).toEqual(["x two"]);
    expect((await offered(second))[0]).toEqual(["x two"]);
  });
});
