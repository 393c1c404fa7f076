import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, McpError } from "@parley/mcp";
import { type Skill, skillsExtension } from "@parley/mcp/skills";
import { serveReleases } from "./server.js";

const folder = await mkdtemp(join(tmpdir(), "parley-skills-"));
await mkdir(join(folder, "release-notes/templates"), { recursive: true });
await writeFile(join(folder, "release-notes/templates/notes.md"), "## {version}\n\n- {change}\n");
await writeFile(
  join(folder, "release-notes/SKILL.md"),
  `---
name: release-notes
description: >-
  Writes release notes. Use it when the user asks
  what has changed.
metadata:
  version: "1.2"
---
# Release notes

1. List the changes with the tool \`changes\`.
2. Fill in \`templates/notes.md\`. Leave out what users do not notice.
`,
);

const { server, reload } = serveReleases(folder);
const client = await connect(server, { extensions: [skillsExtension] });
const skills = client.extension(skillsExtension);

const entries: Skill[] = [];
for await (const entry of skills.list()) entries.push(entry);
for (const { uri, frontmatter } of entries) console.log(`listed   ${uri}: ${frontmatter.description}`);

// A host would ask its user here, and keep the entry with the answer.
const [approved] = entries;
if (approved === undefined) throw new Error("there is no skill");
const skill = await skills.load(approved);
console.log(`loaded   ${skill.body.trim().split("\n")[0]}`);
console.log(`files    ${skill.paths.join(", ")}`);
console.log(`read     ${(await skill.read("templates/notes.md")).text?.split("\n")[0]}`);

// The server's author changes a file. What the user approved is no longer what the server has.
await writeFile(join(folder, "release-notes/templates/notes.md"), "## {version}: {title}\n");
reload();
const changed = await skill.read("templates/notes.md").catch(McpError.from);
console.log(`refused  ${McpError.is(changed) ? changed.message : "nothing"}`);
const again = await skills.load(await skills.get(approved.uri));
console.log(`again    ${(await again.read("templates/notes.md")).text?.trim()}`);

await client.close();
await rm(folder, { recursive: true });
