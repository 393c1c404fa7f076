import { McpError } from "../../protocol/error.js";

// Spec: Skills, "Limits", https://github.com/modelcontextprotocol/ext-skills

/** Maximum number of files in one skill, including `SKILL.md`. A skill with more files is refused. */
export const MAX_SKILL_FILES = 512;

/** Maximum total size of the files of one skill, in bytes. A larger skill is refused. */
export const MAX_SKILL_BYTES = 16 * 1024 * 1024;

/** Maximum number of skills on one server. Limited, because more skills would make every listing slow. */
const MAX_SKILLS = 1000;

/** Maximum total size of a server's skills, in bytes. Limited, because the skills are held in memory. */
const MAX_SERVER_BYTES = 256 * 1024 * 1024;

/** Counts the skills and bytes of one server, and enforces their limits. */
export class SkillBudget {
  #skills = 0;
  #bytes = 0;

  /** Counts a skill. Throws `limit_exceeded` above the limit. */
  addSkill(): void {
    if (++this.#skills > MAX_SKILLS) throw tooMuch(`${MAX_SKILLS} skills`);
  }

  /** Counts bytes. Throws `limit_exceeded` above the limit. */
  addBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > MAX_SERVER_BYTES) throw tooMuch(`${MAX_SERVER_BYTES} bytes of skills`);
  }
}

function tooMuch(limit: string): McpError {
  return new McpError("limit_exceeded", `a server holds at most ${limit}`, { fix: "Serve fewer skills." });
}

/** The file at the root of every skill. */
export const SKILL_FILE = "SKILL.md";

/**
 * Maximum length of a skill's name, in characters.
 *
 * Spec: Agent Skills, "name field", https://agentskills.io/specification#name-field
 */
const MAX_NAME_LENGTH = 64;
/** Maximum length of one path segment, in characters. Common file systems allow no more. */
const MAX_SEGMENT_LENGTH = 255;
/** Maximum number of segments in a path: the file and 15 folders. */
const MAX_PATH_SEGMENTS = 16;

/** The problem with a skill's name. Undefined for a valid name. */
export function nameProblem(name: unknown): string | undefined {
  if (typeof name !== "string" || name === "") return "it has no name";
  if (name.length > MAX_NAME_LENGTH) return `its name is longer than ${MAX_NAME_LENGTH} characters`;
  if (/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) return undefined;
  return `its name ${JSON.stringify(name)} is not made of lowercase letters, digits and single hyphens`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters to refuse them in paths
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
/** Device names of Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?$/i;

/**
 * The reason to refuse a path inside a skill; undefined for a valid path. Refuses paths that some file system or
 * decoder interprets differently: as a way out of the folder, a drive, a stream, a device, or another file.
 */
export function pathProblem(path: string): string | undefined {
  const segments = path.split("/");
  if (segments.length > MAX_PATH_SEGMENTS) return `is more than ${MAX_PATH_SEGMENTS - 1} folders deep`;
  for (const segment of segments) {
    if (segment === "") return "has an empty segment";
    if (segment === "." || segment === "..") return `has a segment \`${segment}\``;
    if (segment.length > MAX_SEGMENT_LENGTH) return `has a segment of more than ${MAX_SEGMENT_LENGTH} characters`;
    if (CONTROLS.test(segment)) return "contains a control character";
    if (/[\\:]/.test(segment)) return "contains a backslash or a colon";
    if (/%(?:2e|2f|5c|00)/i.test(segment)) return "contains an encoded dot, slash, backslash or NUL";
    if (/[. ]$/.test(segment)) return "has a segment that ends with a dot or a space";
    if (/\p{Surrogate}|\ufffd/u.test(segment)) return "is not valid Unicode";
    if (DEVICE.test(segment)) return "has the name of a Windows device";
  }
  return undefined;
}

/**
 * Returns a form that is equal for two paths if some file system treats them as the same. Such file systems ignore case
 * or some characters, or normalize Unicode.
 */
function foldedPath(path: string): string {
  const visible = path.replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  // Convert to uppercase first, because some letters have two lowercase forms but one uppercase form.
  return visible.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}

/** A set of paths that detects collisions, for the files of one skill or for all skills of a server. */
export class SkillPaths {
  readonly #taken = new Map<string, string>();

  /**
   * Adds the path of a file, or of a folder. Returns an earlier path that some file system would treat as the same.
   */
  add(path: string, isFolder = false): string | undefined {
    const segments = path.split("/");
    for (const [index] of segments.entries()) {
      const folder = isFolder || index < segments.length - 1;
      const part = segments.slice(0, index + 1).join("/");
      const known = this.#taken.get(foldedPath(part));
      // A folder may occur again. Anything else is one path in two spellings, or a file and a folder with one name.
      if (known !== undefined && !(folder && known === `${part}/`)) return known.replace(/\/$/, "");
      this.#taken.set(foldedPath(part), folder ? `${part}/` : part);
    }
    return undefined;
  }
}

/**
 * Returns the URI of a file or folder of the skill at `skill://<skillPath>`, such as `skill://acme/billing/refunds`.
 */
export function skillUri(skillPath: string, path = ""): string {
  const segments = path === "" ? skillPath.split("/") : [...skillPath.split("/"), ...path.split("/")];
  return `skill://${segments.map(encodeURIComponent).join("/")}`;
}

/**
 * Returns the root of a skill: the URI of its `SKILL.md` without the last segment. Accepts every scheme. Undefined if
 * the URI is not that of a `SKILL.md` in a folder.
 */
export function skillRoot(uri: string): string | undefined {
  const found = /^([A-Za-z][A-Za-z0-9+.-]*:\/\/[^\s?#\\]+)\/SKILL\.md$/.exec(uri);
  if (found?.[1] === undefined) return undefined;
  const path = found[1].slice(found[1].indexOf("://") + 3);
  return decodedPath(path) === undefined ? undefined : found[1];
}

/** Returns the path of a file inside the skill at `root`. Undefined for a URI outside the skill. */
export function pathInSkill(root: string, uri: string): string | undefined {
  return uri.startsWith(`${root}/`) ? decodedPath(uri.slice(root.length + 1)) : undefined;
}

/**
 * Decodes the segments of a path. Undefined if a segment is invalid or could refer to a location outside its folder.
 */
function decodedPath(path: string): string | undefined {
  if (/[?#\s]/.test(path)) return undefined;
  try {
    const decoded = path.split("/").map((segment) => decodeURIComponent(segment));
    return decoded.some((segment) => segment.includes("/") || pathProblem(segment) !== undefined)
      ? undefined
      : decoded.join("/");
  } catch {
    return undefined;
  }
}
