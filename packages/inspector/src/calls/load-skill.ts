import type { CallOptions } from "@parley/mcp";
import type { SkillFile, SkillsClient } from "@parley/mcp/skills";

/** Reads a skill with all its files, each verified, in the form of a result: `contents` are those of a resource. */
export async function loadSkill(
  skills: SkillsClient,
  uri: string,
  { signal }: CallOptions,
): Promise<Record<string, unknown>> {
  const options: CallOptions = { signal, cache: false };
  // The user asks for it each time, so that files without digests may be read too.
  const skill = await skills.load(uri, { ...options, dynamic: true });
  const contents: Record<string, unknown>[] = [];
  for await (const file of skill.readAll(options)) contents.push(contentsOf(file));
  return { skill: skill.entry, body: skill.body, contents };
}

function contentsOf({ uri, mimeType, bytes, text }: SkillFile): Record<string, unknown> {
  return {
    uri,
    ...(mimeType === undefined ? {} : { mimeType }),
    ...(text === undefined ? { blob: Buffer.from(bytes).toString("base64") } : { text }),
  };
}
