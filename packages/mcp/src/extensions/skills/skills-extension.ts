import type { ExtendedClient } from "../../client/contract/extension.js";
import type { CallOptions } from "../../client/contract/options.js";
import { walkPages } from "../../client/features/pages.js";
import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { Resource } from "../../protocol/features/resources.js";
import { DIRECTORY_METHOD, SKILL_METHODS, SKILLS_EXTENSION, type Skill } from "../../protocol/features/skills.js";
import { nextCursorOf } from "../../protocol/message.js";
import { type DefinedExtension, defineExtension } from "../seam/define-extension.js";
import { type CheckedSkill, checkSkill } from "./check-skill.js";
import { type LoadedSkill, SkillReader } from "./loaded-skill.js";

/** Options of `load`. */
export interface LoadSkillOptions extends CallOptions {
  /** Allows skills whose files have no digests and may change with every read. Default: false. */
  dynamic?: boolean | undefined;
}

/** The skills of a server. Each method reads from the server only when it is called. */
export interface SkillsClient {
  /**
   * Lists the entries of the server's skills, page by page. The server may have unlisted skills. Drops invalid entries
   * with a warning.
   */
  list(options?: CallOptions): AsyncIterable<Skill>;
  /** Returns the entry of one skill, listed or not, by the URI of its `SKILL.md`. */
  get(uri: string, options?: CallOptions): Promise<Skill>;
  /**
   * Reads the `SKILL.md` of a skill, given by its entry or its URI. Verifies its size, its digest and each field of its
   * frontmatter, and rejects with `invalid_response` if one differs from the entry. Pass the entry that the user has
   * approved.
   */
  load(skill: Skill | string, options?: LoadSkillOptions): Promise<LoadedSkill>;
  /** Lists the direct children of a directory, as the server reports them now. They are not verified. */
  directory(uri: string, options?: CallOptions): AsyncIterable<Resource>;
}

/**
 * The Skills extension for clients. Pass it in `extensions` of `connect`; `client.extension(skillsExtension)` returns
 * the `SkillsClient`.
 *
 * Spec: Skills, https://github.com/modelcontextprotocol/ext-skills
 */
export const skillsExtension: DefinedExtension<SkillsClient> = /* @__PURE__ */ defineExtension<SkillsClient>({
  id: SKILLS_EXTENSION,
  settings: {},
  methods: [...SKILL_METHODS, DIRECTORY_METHOD],
  server() {
    throw new McpError("invalid_definition", "`skillsExtension` is for clients", {
      fix: "Pass `skills(…)` with the folders of the skills to the server.",
    });
  },
  client: (client) => ({ feature: skillsClient(client) }),
});

function skillsClient(client: ExtendedClient): SkillsClient {
  return {
    list: (options) => listSkills(client, options),
    get: async (uri, options) => (await getSkill(client, uri, options)).entry,
    async load(skill, { dynamic = false, ...options } = {}) {
      const checked = typeof skill === "string" ? await getSkill(client, skill, options) : checkedEntry(skill);
      if (checked.files === undefined && !dynamic) {
        throw new McpError(
          "invalid_params",
          `the skill ${checked.entry.uri} is dynamic: its files cannot be verified`,
          {
            fix: "Pass `dynamic: true` to load it, if the user agrees each time.",
          },
        );
      }
      return new SkillReader(client, checked).load(options);
    },
    directory: (uri, options) => readDirectory(client, uri, options),
  };
}

function listSkills(client: ExtendedClient, options: CallOptions | undefined): AsyncGenerator<Skill, void, undefined> {
  return walkPages(
    "skills/list",
    async (cursor) => {
      requireDeclared(client, "skills/list");
      const result = await client.request("skills/list", cursor === undefined ? undefined : { cursor }, options);
      const refused: string[] = [];
      const items = itemsOf(result, "skills", "skills/list").flatMap((item) => {
        const checked = checkSkill(item);
        if (typeof checked !== "string") return [checked.entry];
        refused.push(`${shownUri(item)} (${checked})`);
        return [];
      });
      warnOf(client, "ignored invalid skills", refused);
      return { items, next: nextCursorOf(result) };
    },
    ({ uri }) => uri,
  );
}

async function getSkill(client: ExtendedClient, uri: string, options?: CallOptions): Promise<CheckedSkill> {
  requireDeclared(client, "skills/get");
  const { skill } = await client.request("skills/get", { uri }, options);
  const checked = checkSkill(skill);
  const problem = typeof checked === "string" ? checked : checked.entry.uri === uri ? undefined : "it is another skill";
  if (typeof checked !== "string" && problem === undefined) return checked;
  throw new McpError("invalid_response", `the entry of the skill ${uri} cannot be used: ${problem}`, {
    data: { uri },
    fix: "Report it to the author of the server.",
    operation: { method: "skills/get", target: uri },
  });
}

/** Validates an entry that the application passed. */
function checkedEntry(skill: Skill): CheckedSkill {
  const checked = checkSkill(skill);
  if (typeof checked !== "string") return checked;
  throw new McpError("invalid_params", `the entry of ${shownUri(skill)} cannot be used: ${checked}`, {
    fix: "Pass an entry as returned by `list` or `get`.",
  });
}

function readDirectory(
  client: ExtendedClient,
  uri: string,
  options: CallOptions | undefined,
): AsyncGenerator<Resource, void, undefined> {
  const method = "resources/directory/read";
  return walkPages(
    method,
    async (cursor) => {
      const settings = requireDeclared(client, method);
      // Spec: Skills, "Capability Negotiation": clients must not call this method unless the server declares
      // `directoryRead`.
      if (settings["directoryRead"] !== true) throw notDeclared(method, "directoryRead");
      const result = await client.request(method, cursor === undefined ? { uri } : { uri, cursor }, options);
      const refused: string[] = [];
      const items = itemsOf(result, "resources", method).filter((item): item is Resource => {
        const isChild = isObject(item) && typeof item["name"] === "string" && isChildOf(uri, item["uri"]);
        if (!isChild) refused.push(shownUri(item));
        return isChild;
      });
      warnOf(client, `ignored invalid children of ${uri}`, refused);
      return { items, next: nextCursorOf(result) };
    },
    (child) => child.uri,
  );
}

function isChildOf(directory: string, uri: unknown): boolean {
  if (typeof uri !== "string" || !uri.startsWith(`${directory}/`)) return false;
  const name = uri.slice(directory.length + 1);
  return /^[^/?#\\]+$/.test(name) && !/^(?:\.|%2e){1,2}$/i.test(name) && !/%(?:2f|5c|00)/i.test(name);
}

/** Returns the settings that the server declares for the extension. Throws `capability_missing` if there are none. */
function requireDeclared(client: ExtendedClient, method: string): Record<string, unknown> {
  const settings = client.serverCapabilities.extensions?.[SKILLS_EXTENSION];
  if (isObject(settings)) return settings;
  throw notDeclared(method, SKILLS_EXTENSION);
}

function notDeclared(method: string, capability: string): McpError {
  return new McpError("capability_missing", `the server does not offer ${method}: it declares no "${capability}"`, {
    data: { capability },
    fix: "Look at `client.serverCapabilities` before calling.",
    operation: { method },
  });
}

function itemsOf(result: Record<string, unknown>, member: string, method: string): unknown[] {
  const items = result[member];
  if (Array.isArray(items)) return items;
  throw new McpError("invalid_response", `the answer to ${method} has no list \`${member}\``, {
    operation: { method },
  });
}

/** Maximum number of items that one warning names. Further items are only counted. */
const MAX_NAMED = 5;

function warnOf(client: ExtendedClient, what: string, refused: readonly string[]): void {
  if (refused.length === 0) return;
  const named = refused.slice(0, MAX_NAMED).join(", ");
  client.warn(`${what}: ${named}${refused.length > MAX_NAMED ? `, and ${refused.length - MAX_NAMED} more` : ""}`);
}

function shownUri(item: unknown): string {
  const uri = isObject(item) ? item["uri"] : undefined;
  return typeof uri === "string" ? uri.slice(0, 200) : "an entry without a URI";
}
