import { resolve } from "node:path";
import type { Skill } from "@parley/mcp/skills";
import type { CommandRun } from "../../commands/command.js";
import { resolveTarget } from "../../target/target.js";
import { EXIT } from "../../terminal/exit-code.js";
import { MAX_SKILLS, openFolderSkills, openServerSkills, SKILLS_FOLDER } from "./open-skills.js";

/** `parley skills list`: lists the skills of a server or of a folder. */
export const listSkills: CommandRun = async (invocation) => {
  const { words, program, options, terminal } = invocation;
  const remote = words.length > 0 || program.length > 0;
  const folder = options.text("folder") ?? SKILLS_FOLDER;
  const opened = remote
    ? await openServerSkills((await resolveTarget(invocation))[0], invocation)
    : await openFolderSkills(resolve(terminal.io.cwd, folder));
  await using _client = opened.client;
  const found: Skill[] = [];
  for await (const skill of opened.skills.list({ signal: terminal.io.signal }))
    if (found.push(skill) >= MAX_SKILLS) break;
  if (terminal.json) {
    terminal.printJson({ skills: found });
    return EXIT.ok;
  }
  const { style } = terminal;
  const named = (wanted: string) => found.filter(({ frontmatter: { name } }) => name === wanted).length;
  terminal.printTable(
    found.map(({ uri, frontmatter: { name, description }, resources }) => [
      // Shows the URI if several skills have this name.
      style.bold(named(name) > 1 ? uri : name),
      resources === "dynamic" ? "dynamic" : `${resources.length} ${resources.length === 1 ? "file" : "files"}`,
      description,
    ]),
  );
  if (found.length === 0) terminal.note(remote ? "the server lists no skills" : `no skills in ${folder}`);
  return EXIT.ok;
};
