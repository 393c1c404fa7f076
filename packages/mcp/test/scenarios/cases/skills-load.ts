import { Server } from "@parley/mcp";
import { skill, skills, skillsExtension } from "@parley/mcp/skills";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a skill is loaded with its files, text and bytes, each of them verified",
  ids: ["EXT-03"],
  server: () =>
    new Server(
      { name: "s", version: "1" },
      {
        extensions: [
          skills(
            skill({
              name: "pdf",
              description: 'Works with "PDF": all of it',
              body: "Read `references/forms.md`.\n",
              files: { "references/forms.md": "# Förms\n", "assets/logo.png": Uint8Array.of(137, 80, 0, 255) },
              frontmatter: { license: "MIT", metadata: { version: "1.0", count: 3, tags: ["a", "null"] } },
            }),
            skill({ name: "now", description: "Tells the time", body: () => "It is noon.\n" }),
          ),
        ],
      },
    ),
  except: {
    "gateway-stateful": "a gateway serves the files of skills as resources, and not the methods of that extension",
    "gateway-stateless": "a gateway serves the files of skills as resources, and not the methods of that extension",
  },
  async run({ connect }) {
    const client = await connect({ extensions: [skillsExtension] });
    const found = client.extension(skillsExtension);
    const pdf = await found.load("skill://pdf/SKILL.md");
    expect(pdf.body).toBe("Read `references/forms.md`.\n");
    expect(pdf.paths).toEqual(["SKILL.md", "references/forms.md", "assets/logo.png"]);
    expect(await pdf.read("references/forms.md")).toMatchObject({ text: "# Förms\n", mimeType: "text/markdown" });
    const logo = await pdf.read("assets/logo.png");
    expect(logo).toMatchObject({ mimeType: "image/png", text: undefined });
    expect([...logo.bytes]).toEqual([137, 80, 0, 255]);
    await expect(pdf.read("../now/SKILL.md")).rejects.toMatchObject({ kind: "invalid_params" });
    await expect(found.load("skill://now/SKILL.md")).rejects.toThrow(/is dynamic/);
    expect((await found.load("skill://now/SKILL.md", { dynamic: true })).body).toBe("It is noon.\n");
    // Clients without the extension see resources.
    const plain = await connect();
    expect((await plain.allResources()).map(({ uri }) => uri)).toEqual([
      "skill://pdf/SKILL.md",
      "skill://now/SKILL.md",
    ]);
    await expect(plain.readResource("skill://pdf/none.md")).rejects.toMatchObject({ kind: "resource_not_found" });
  },
});
