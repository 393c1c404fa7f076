import { Server } from "@parley/mcp";
import { skill, skills, skillsExtension } from "@parley/mcp/skills";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

const named = (name: string) => skill({ name, description: `Does ${name}`, body: "Do it.", files: { "a.txt": name } });

export default scenario({
  name: "the skills of a server are listed page by page, and found by their URI",
  ids: ["EXT-03"],
  server: () =>
    new Server(
      { name: "s", version: "1" },
      { pageSize: 2, extensions: [skills(...["one", "two", "three"].map(named), { cache: { ttlMs: 60_000 } })] },
    ),
  except: {
    "gateway-stateful": "a gateway serves the files of skills as resources, and not the methods of that extension",
    "gateway-stateless": "a gateway serves the files of skills as resources, and not the methods of that extension",
  },
  async run({ connect }) {
    const client = await connect({ extensions: [skillsExtension] });
    expect(client.serverCapabilities.extensions).toEqual({
      "io.modelcontextprotocol/skills": { directoryRead: true },
    });
    const found = [];
    for await (const entry of client.extension(skillsExtension).list()) found.push(entry);
    expect(found.map(({ frontmatter }) => frontmatter.name)).toEqual(["one", "two", "three"]);
    expect(found[1]).toMatchObject({
      uri: "skill://two/SKILL.md",
      frontmatter: { name: "two", description: "Does two" },
      resources: [
        { uri: "skill://two/SKILL.md", size: 46 },
        { uri: "skill://two/a.txt", size: 3 },
      ],
    });
    expect(await client.extension(skillsExtension).get("skill://two/SKILL.md")).toEqual(found[1]);
    await expect(client.extension(skillsExtension).get("skill://none/SKILL.md")).rejects.toMatchObject({
      code: -32602,
    });
  },
});
