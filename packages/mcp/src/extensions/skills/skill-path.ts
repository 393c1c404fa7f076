import { McpError } from "../../protocol/error.js";

// Spec: Skills, "Limits", https://github.com/modelcontextprotocol/ext-skills

/** Files of one skill, `SKILL.md` included. */
export const MAX_SKILL_FILES = 512;

/** Bytes of all files of one skill. */
export const MAX_SKILL_BYTES = 16 * 1024 * 1024;

/** Skills of one server; more would make every listing slow. */
const MAX_SKILLS = 1000;

/** Bytes of all skills of one server, because they are held in memory. */
const MAX_SERVER_BYTES = 256 * 1024 * 1024;

/** Counts the skills and bytes that a server holds. */
export class SkillBudget {
  #skills = 0;
  #bytes = 0;

  /** Counts a skill. Throws if it is one too many. */
  addSkill(): void {
    if (++this.#skills > MAX_SKILLS) throw tooMuch(`${MAX_SKILLS} skills`);
  }

  /** Counts bytes. Throws if they are too many. */
  addBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > MAX_SERVER_BYTES) throw tooMuch(`${MAX_SERVER_BYTES} bytes of skills`);
  }
}

function tooMuch(limit: string): McpError {
  return new McpError("limit_exceeded", `a server holds at most ${limit}`, { fix: "Serve fewer skills." });
}

/** The file that every skill has at its root. */
export const SKILL_FILE = "SKILL.md";

/** Characters of a skill's name. Spec: Agent Skills, "name field", https://agentskills.io/specification#name-field */
const MAX_NAME_LENGTH = 64;
/** Characters of one segment of a path; what file systems take. */
const MAX_SEGMENT_LENGTH = 255;
/** Folders inside folders of one skill. */
const MAX_PATH_SEGMENTS = 16;

/** The problem of the name of a skill; undefined for a valid one. */
export function nameProblem(name: unknown): string | undefined {
  if (typeof name !== "string" || name === "") return "it has no name";
  if (name.length > MAX_NAME_LENGTH) return `its name is longer than ${MAX_NAME_LENGTH} characters`;
  if (/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) return undefined;
  return `its name ${JSON.stringify(name)} is not made of lowercase letters, digits and single hyphens`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what the rule is about
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
/** Names that Windows gives to devices, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?$/i;

/**
 * Why a path is not that of a file inside a skill; undefined for a good one. It refuses what some file system or decoder would
 * take for something else: a way out of the folder, a drive, a stream, a device, or the name of another file.
 */
export function pathProblem(path: string): string | undefined {
  const segments = path.split("/");
  if (segments.length > MAX_PATH_SEGMENTS) return `lies more than ${MAX_PATH_SEGMENTS - 1} folders deep`;
  for (const segment of segments) {
    if (segment === "") return "has an empty segment";
    if (segment === "." || segment === "..") return `has a segment \`${segment}\``;
    if (segment.length > MAX_SEGMENT_LENGTH) return `has a segment of more than ${MAX_SEGMENT_LENGTH} characters`;
    if (CONTROLS.test(segment)) return "holds a control character";
    if (/[\\:]/.test(segment)) return "holds a backslash or a colon";
    if (/%(?:2e|2f|5c|00)/i.test(segment)) return "holds an encoded dot, slash or NUL";
    if (/[. ]$/.test(segment)) return "has a segment that ends with a dot or a space";
    if (/\p{Surrogate}|\ufffd/u.test(segment)) return "is not valid Unicode";
    if (DEVICE.test(segment)) return "has the name of a device";
  }
  return undefined;
}

/** The form under which file systems that ignore case or some characters, or normalise Unicode, would keep a path. */
function foldedPath(path: string): string {
  const visible = path.replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  // Some letters have two lowercase forms, and one uppercase form.
  return visible.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}

/** The paths of one skill, or those of all skills of a server. */
export class SkillPaths {
  readonly #taken = new Map<string, string>();

  /** Adds the path of a file, or of a folder. Returns the path with which some file system would take it for one. */
  add(path: string, isFolder = false): string | undefined {
    const segments = path.split("/");
    for (const [index] of segments.entries()) {
      const folder = isFolder || index < segments.length - 1;
      const part = segments.slice(0, index + 1).join("/");
      const known = this.#taken.get(foldedPath(part));
      // A folder may be met again; anything else would be the same place under two names, or a file and a folder.
      if (known !== undefined && !(folder && known === `${part}/`)) return known.replace(/\/$/, "");
      this.#taken.set(foldedPath(part), folder ? `${part}/` : part);
    }
    return undefined;
  }
}

/** The URI of a file or folder of a skill that is served as `skill://<skillPath>`, such as `skill://acme/billing/refunds`. */
export function skillUri(skillPath: string, path = ""): string {
  const segments = path === "" ? skillPath.split("/") : [...skillPath.split("/"), ...path.split("/")];
  return `skill://${segments.map(encodeURIComponent).join("/")}`;
}

/**
 * The root of a skill: the URI of its `SKILL.md` without that last segment. Undefined unless the URI has the form that skills
 * have, in whatever scheme.
 */
export function skillRoot(uri: string): string | undefined {
  const found = /^([A-Za-z][A-Za-z0-9+.-]*:\/\/[^\s?#\\]+)\/SKILL\.md$/.exec(uri);
  if (found?.[1] === undefined) return undefined;
  const path = found[1].slice(found[1].indexOf("://") + 3);
  return decodedPath(path) === undefined ? undefined : found[1];
}

/** The path of a file inside the skill at `root`; undefined for a URI that leads elsewhere. */
export function pathInSkill(root: string, uri: string): string | undefined {
  return uri.startsWith(`${root}/`) ? decodedPath(uri.slice(root.length + 1)) : undefined;
}

/** Decodes the segments of a path; undefined if one of them could lead out of its folder. */
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
