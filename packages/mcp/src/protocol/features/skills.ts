import type { MetaObject } from "../json.js";
import type { CacheHints, PaginatedRequestParams, PaginatedResult, RequestParams, Result } from "../message.js";
import type { MethodRow } from "../methods.js";
import type { Resource } from "./resources.js";

/** The id of the skills extension (SEP-2640). */
export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

/** The MIME type of a directory, in the results of `resources/directory/read`. */
export const DIRECTORY_MIME_TYPE = "inode/directory";

const fromClient = { kind: "request", sender: "client", first: "2024-11-05", idempotent: true } as const;

/** The methods of every server with skills. */
export const SKILL_METHODS: readonly MethodRow[] = [
  { method: "skills/list", ...fromClient, cacheable: true },
  { method: "skills/get", ...fromClient, cacheable: true },
];

/** The method of servers that declare `directoryRead`. */
export const DIRECTORY_METHOD: MethodRow = { method: "resources/directory/read", ...fromClient };

/** The YAML frontmatter of a `SKILL.md` as JSON, with every field that its author wrote. */
export interface SkillFrontmatter {
  /** At most 64 lowercase letters, digits and single hyphens; equal to the name of the skill's directory. */
  name: string;
  /** The purpose of the skill and when to use it; at most 1024 characters. */
  description: string;
  [field: string]: unknown;
}

/** A file of a skill. */
export interface SkillResource {
  /** The URI for `resources/read`. */
  uri: string;
  /** SHA-256 of the file's bytes, as `sha256:` and 64 lowercase hexadecimal digits. */
  digest: string;
  /** Size in bytes. */
  size: number;
}

/** The entry of a skill: its purpose and its files. */
export interface Skill {
  /** The URI of the skill's `SKILL.md`. */
  uri: string;
  /** The fields at the beginning of `SKILL.md`. */
  frontmatter: SkillFrontmatter;
  /** All files, including `SKILL.md`; `"dynamic"` if their content is generated and has no stable digest. */
  resources: SkillResource[] | "dynamic";
  /** Metadata of the skill. */
  _meta?: MetaObject;
}

/** Parameters of `skills/list`. */
export interface ListSkillsRequestParams extends PaginatedRequestParams {}

/** Result of `skills/list`. */
export interface ListSkillsResult extends PaginatedResult, CacheHints {
  /** The skills of this page. */
  skills: Skill[];
}

/** Parameters of `skills/get`. */
export interface GetSkillRequestParams extends RequestParams {
  /** The URI of a `SKILL.md`. */
  uri: string;
}

/** Result of `skills/get`. */
export interface GetSkillResult extends Result, CacheHints {
  /** The entry of the skill. */
  skill: Skill;
}

/** Parameters of `resources/directory/read`. */
export interface ReadResourceDirectoryRequestParams extends PaginatedRequestParams {
  /** The URI of a directory, without a trailing slash. */
  uri: string;
}

/** Result of `resources/directory/read`: the direct children of a directory. */
export interface ReadResourceDirectoryResult extends PaginatedResult {
  /** The children of this page. Directories have the MIME type `inode/directory`. */
  resources: Resource[];
}
