import { Server } from "@parley/mcp";
import { skill, skills, skillsExtension } from "@parley/mcp/skills";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

const FILES = { "a/b/c.txt": "c", "a/d.txt": "d", "e.txt": "e" };

export default scenario({
  name: "the directories of a skill are listed, one level at a time",
  ids: ["EXT-03"],
  server: () =>
    new Server(
      { name: "s", version: "1" },
      { pageSize: 2, extensions: [skills(skill({ name: "tree", description: "Grows", body: "", files: FILES }))] },
    ),
  except: {
    "gateway-stateful": "a gateway serves the files of skills as resources, and not the methods of that extension",
    "gateway-stateless": "a gateway serves the files of skills as resources, and not the methods of that extension",
  },
  async run({ connect }) {
    const client = await connect({ extensions: [skillsExtension] });
    const children = async (uri: string) => {
      const found: [string, string | undefined][] = [];
      for await (const { uri: child, mimeType } of client.extension(skillsExtension).directory(uri))
        found.push([child, mimeType]);
      return found;
    };
    expect(await children("skill://tree")).toEqual([
      ["skill://tree/SKILL.md", "text/markdown"],
      ["skill://tree/a", "inode/directory"],
      ["skill://tree/e.txt", "text/plain"],
    ]);
    expect(await children("skill://tree/a")).toEqual([
      ["skill://tree/a/b", "inode/directory"],
      ["skill://tree/a/d.txt", "text/plain"],
    ]);
    for (const uri of ["skill://tree/e.txt", "skill://tree/a/", "skill://none"])
      await expect(children(uri), uri).rejects.toMatchObject({ code: -32602 });
  },
});
