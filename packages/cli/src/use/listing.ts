import type { Client } from "@parley/mcp";
import type { Prompt, Resource, ResourceTemplate, Tool } from "@parley/mcp/protocol";
import { SKILLS_EXTENSION, type Skill, skillsExtension } from "@parley/mcp/skills";
import { UsageError } from "../terminal/usage-error.js";

/** What a server can list, by the words of the command line. */
export const KINDS = ["tools", "resources", "templates", "prompts", "skills"] as const;
export type Kind = (typeof KINDS)[number];

/** Everything that was listed; what was not asked for is absent. */
export interface Listing {
  tools?: readonly Tool[];
  resources?: readonly Resource[];
  templates?: readonly ResourceTemplate[];
  prompts?: readonly Prompt[];
  skills?: readonly Skill[];
}

/** The most entries of one kind that are listed. */
const MOST_ENTRIES = 20_000;

/** The kinds of a command line; empty for all. Throws a `UsageError` for a word that is none. */
export function kindsOf(words: readonly string[]): readonly Kind[] {
  return words.map((word) => {
    const kind = KINDS.find((one) => one === word || one === `${word}s`);
    if (kind !== undefined) return kind;
    throw new UsageError(`"${word}" cannot be listed`, `Name one of: ${KINDS.join(", ")}.`);
  });
}

/** The kinds that the server says it has. */
export function declaredKinds({ serverCapabilities }: Client): readonly Kind[] {
  const { tools, resources, prompts, extensions } = serverCapabilities;
  const has: Record<Kind, boolean> = {
    tools: tools !== undefined,
    resources: resources !== undefined,
    templates: resources !== undefined,
    prompts: prompts !== undefined,
    skills: extensions !== undefined && Object.hasOwn(extensions, SKILLS_EXTENSION),
  };
  return KINDS.filter((kind) => has[kind]);
}

/** Lists these kinds, one after the other. The client needs `skillsExtension` for skills. */
export async function listKinds(client: Client, kinds: readonly Kind[], signal: AbortSignal): Promise<Listing> {
  const listing: Listing = {};
  for (const kind of KINDS) {
    if (!kinds.includes(kind)) continue;
    if (kind === "tools") listing.tools = await collected(client.tools({ signal }));
    else if (kind === "resources") listing.resources = await collected(client.resources({ signal }));
    else if (kind === "templates") listing.templates = await collected(client.resourceTemplates({ signal }));
    else if (kind === "prompts") listing.prompts = await collected(client.prompts({ signal }));
    else listing.skills = await collected(client.extension(skillsExtension).list({ signal }));
  }
  return listing;
}

async function collected<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const entry of entries) {
    all.push(entry);
    if (all.length >= MOST_ENTRIES) break;
  }
  return all;
}
