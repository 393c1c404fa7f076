import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Client, connect, Server } from "@parley/mcp";
import { type Skill, type SkillsClient, skills, skillsExtension } from "@parley/mcp/skills";
import type { Invocation } from "../../commands/command.js";
import { openTarget } from "../../target/open-target.js";
import type { ServerTarget } from "../../target/target.js";
import type { Io } from "../../terminal/io.js";
import { UsageError } from "../../terminal/usage-error.js";

/** The default folder for skills. */
export const SKILLS_FOLDER = "skills";

/** A client and the skills of its server. The caller closes the client. */
export interface OpenSkills {
  readonly client: Client;
  readonly skills: SkillsClient;
}

/** Opens the skills of a server. */
export async function openServerSkills(target: ServerTarget, invocation: Invocation): Promise<OpenSkills> {
  const client = await openTarget(target, invocation, { extensions: [skillsExtension] });
  return { client, skills: client.extension(skillsExtension) };
}

/**
 * Opens the skills in a folder with a server in this process, which reads and checks them. Throws a `UsageError` if the
 * folder does not exist.
 */
export async function openFolderSkills(folder: string): Promise<OpenSkills> {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new UsageError(`the folder ${folder} does not exist`, "Name the folder with --folder, or name a server.");
  }
  const server = new Server({ name: "skills", version: "1" }, { extensions: [skills(folder)] });
  const client = await connect(server, { extensions: [skillsExtension] });
  return { client, skills: client.extension(skillsExtension) };
}

/**
 * Finds the folder of a skill by its path, or by its name in the folder for skills. Throws a `UsageError` if there is
 * no such skill.
 */
export function skillFolder(word: string, folder: string, { cwd }: Io): string {
  const places = [resolve(cwd, word), join(resolve(cwd, folder), word)];
  const found = places.find((place) => statSync(join(place, "SKILL.md"), { throwIfNoEntry: false })?.isFile() === true);
  if (found !== undefined) return found;
  throw new UsageError(`no skill "${word}" was found`, `Name a folder with a SKILL.md, or a skill in ${folder}.`);
}

/**
 * Finds a skill of a server by its name, its path such as `acme/billing/refunds`, or its URI. Throws a `UsageError` if
 * no skill or more than one matches.
 */
export async function findSkill(word: string, { skills: offered }: OpenSkills): Promise<Skill> {
  if (word.includes("://")) return offered.get(word);
  const names: string[] = [];
  const found: Skill[] = [];
  for await (const skill of offered.list()) {
    const { name } = skill.frontmatter;
    if (name === word || skill.uri.endsWith(`://${word}/SKILL.md`)) found.push(skill);
    if (names.push(name) >= MAX_SKILLS) break;
  }
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0) return first;
  if (first !== undefined)
    throw new UsageError(
      `the server has ${found.length} skills named "${word}"`,
      `Use the URI of one: ${found
        .slice(0, 20)
        .map(({ uri }) => uri)
        .join(", ")}.`,
    );
  const known = names.slice(0, 20).join(", ");
  throw new UsageError(
    `the server has no skill "${word}"`,
    names.length === 0 ? "Use the URI of a skill: the server lists none." : `Use one of: ${known}.`,
  );
}

/** Maximum number of skills that are searched or listed. Further skills are ignored. */
export const MAX_SKILLS = 1_000;
