import { resolve } from "node:path";
import type { Skill } from "@parley/mcp/skills";
import type { CommandRun } from "../../commands/command.js";
import { takeTarget } from "../../target/target.js";
import { EXIT } from "../../terminal/exit-code.js";
import { MOST_LISTED, SKILLS_FOLDER, skillsOfFolder, skillsOfServer } from "./skills-of.js";

/** `parley skills list`: the skills of a server, or of a folder. */
export const listSkills: CommandRun = async (invocation) => {
  const { words, program, options, terminal } = invocation;
  const remote = words.length > 0 || program.length > 0;
  const folder = options.text("folder") ?? SKILLS_FOLDER;
  const opened = remote
    ? await skillsOfServer((await takeTarget(invocation))[0], invocation)
    : await skillsOfFolder(resolve(terminal.io.cwd, folder));
  await using _client = opened.client;
  const found: Skill[] = [];
  for await (const skill of opened.skills.list({ signal: terminal.io.signal }))
    if (found.push(skill) >= MOST_LISTED) break;
  if (terminal.json) {
    terminal.printJson({ skills: found });
    return EXIT.ok;
  }
  const { style } = terminal;
  const named = (wanted: string) => found.filter(({ frontmatter: { name } }) => name === wanted).length;
  terminal.printTable(
    found.map(({ uri, frontmatter: { name, description }, resources }) => [
      // Names need not be unique, URIs are.
      style.bold(named(name) > 1 ? uri : name),
      resources === "dynamic" ? "dynamic" : `${resources.length} ${resources.length === 1 ? "file" : "files"}`,
      description,
    ]),
  );
  if (found.length === 0) terminal.note(remote ? "the server lists no skills" : `there are no skills in ${folder}`);
  return EXIT.ok;
};
