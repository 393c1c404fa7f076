import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Client, connect, Server } from "@parley/mcp";
import { type Skill, type SkillsClient, skills, skillsExtension } from "@parley/mcp/skills";
import type { Invocation } from "../../commands/command.js";
import { openTarget } from "../../target/open-target.js";
import type { ServerTarget } from "../../target/target.js";
import type { Io } from "../../terminal/io.js";
import { UsageError } from "../../terminal/usage-error.js";

/** Where skills are kept unless the command line says otherwise. */
export const SKILLS_FOLDER = "skills";

/** A client and the skills of its server. Close the client. */
export interface OpenSkills {
  readonly client: Client;
  readonly skills: SkillsClient;
}

/** Opens the skills of a server. */
export async function skillsOfServer(target: ServerTarget, invocation: Invocation): Promise<OpenSkills> {
  const client = await openTarget(target, invocation, { extensions: [skillsExtension] });
  return { client, skills: client.extension(skillsExtension) };
}

/** Opens the skills in a folder: a server of this process reads and checks them. Throws a `UsageError` where there is none. */
export async function skillsOfFolder(folder: string): Promise<OpenSkills> {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new UsageError(`there is no folder ${folder}`, "Name the folder with the skills by --folder, or a server.");
  }
  const server = new Server({ name: "skills", version: "1" }, { extensions: [skills(folder)] });
  const client = await connect(server, { extensions: [skillsExtension] });
  return { client, skills: client.extension(skillsExtension) };
}

/** The folder of a skill by its path, or by its name in the folder of skills. Throws a `UsageError` where there is none. */
export function skillFolder(word: string, folder: string, { cwd }: Io): string {
  const places = [resolve(cwd, word), join(resolve(cwd, folder), word)];
  const found = places.find((place) => statSync(join(place, "SKILL.md"), { throwIfNoEntry: false })?.isFile() === true);
  if (found !== undefined) return found;
  throw new UsageError(`there is no skill ${word}`, `Give a folder with a SKILL.md, or a name in ${folder}.`);
}

/**
 * The skill of a server by its name, its path such as `acme/billing/refunds`, or its URI. Throws a `UsageError` that lists the others,
 * and for a name that several skills have.
 */
export async function findSkill(word: string, { skills: offered }: OpenSkills): Promise<Skill> {
  if (word.includes("://")) return offered.get(word);
  const names: string[] = [];
  const found: Skill[] = [];
  for await (const skill of offered.list()) {
    const { name } = skill.frontmatter;
    if (name === word || skill.uri.endsWith(`://${word}/SKILL.md`)) found.push(skill);
    if (names.push(name) >= MOST_LISTED) break;
  }
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0) return first;
  if (first !== undefined)
    throw new UsageError(
      `the server has ${found.length} skills "${word}"`,
      `Give the URI of one: ${found
        .slice(0, 20)
        .map(({ uri }) => uri)
        .join(", ")}.`,
    );
  const known = names.slice(0, 20).join(", ");
  throw new UsageError(
    `the server has no skill "${word}"`,
    names.length === 0 ? "It lists none; give the URI of one that it does not list." : `It has: ${known}.`,
  );
}

/** Skills that are looked through or shown. */
export const MOST_LISTED = 1_000;
