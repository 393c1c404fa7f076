import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import type { LoadedSkill, Skill } from "@parley/mcp/skills";
import type { CommandRun } from "../../commands/command.js";
import { resolveTarget } from "../../target/target.js";
import { EXIT } from "../../terminal/exit-code.js";
import { show } from "../../terminal/terminal-text.js";
import { UsageError } from "../../terminal/usage-error.js";
import { findSkill, openServerSkills, SKILLS_FOLDER } from "./open-skills.js";
import { SAVED_FILE, type SavedSkill } from "./saved-skill.js";

/** `parley skills save`: writes a skill of a server to a folder, and verifies each file by its digest. */
export const saveSkill: CommandRun = async (invocation) => {
  const { terminal } = invocation;
  const { io } = terminal;
  const [target, [word, given = SKILLS_FOLDER]] = await resolveTarget(invocation);
  if (word === undefined) throw new UsageError("which skill?", "Name one that `parley skills list` shows.");
  const opened = await openServerSkills(target, invocation);
  await using _client = opened.client;
  const entry = await findSkill(word, opened);
  if (entry.resources === "dynamic") {
    throw new UsageError(
      `the skill ${entry.frontmatter.name} is dynamic and cannot be saved`,
      "Read it from the server. Its files are generated for each reader and cannot be verified.",
    );
  }
  const folder = resolve(io.cwd, given, entry.frontmatter.name);
  checkUnused(folder);
  const skill = await opened.skills.load(entry, { signal: io.signal });
  const { name = "unknown", version = "" } = opened.client.serverInfo ?? {};
  const paths = await write(
    skill,
    folder,
    { server: { name, version }, uri: entry.uri, resources: entry.resources },
    io.signal,
  );
  if (terminal.json) terminal.printJson({ folder, name: entry.frontmatter.name, uri: entry.uri, files: paths });
  else {
    terminal.print(show`saved ${terminal.style.bold(entry.frontmatter.name)} to ${folder}:`);
    for (const path of paths) terminal.print(show`  ${path}`);
  }
  return EXIT.ok;
};

/** Writes to a temporary folder, and moves it to `folder` when every file is verified. */
async function write(
  skill: LoadedSkill,
  folder: string,
  about: Omit<SavedSkill, "version"> & { readonly resources: Exclude<Skill["resources"], "dynamic"> },
  signal: AbortSignal,
): Promise<string[]> {
  const place = join(dirname(folder), `.saving-${randomUUID()}`);
  mkdirSync(place, { recursive: true });
  try {
    const paths: string[] = [];
    for await (const { path, bytes } of skill.readAll({ signal })) {
      const file = resolve(place, path);
      // The library has already checked the path. This check prevents writes to other folders if the library is wrong.
      if (!file.startsWith(`${place}${sep}`) || path === SAVED_FILE)
        throw new UsageError(
          `the skill has a file ${path}, which cannot be saved`,
          "Report it to the server's author.",
        );
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, bytes, { flag: "wx", mode: 0o644 });
      paths.push(path);
    }
    const saved: SavedSkill = { version: 1, ...about };
    writeFileSync(join(place, SAVED_FILE), `${JSON.stringify(saved, undefined, 2)}\n`, { flag: "wx" });
    checkUnused(folder);
    renameSync(place, folder);
    return paths;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function checkUnused(folder: string): void {
  if (existsSync(folder)) throw new UsageError(`${folder} already exists`, "Remove it, or name another folder.");
}
