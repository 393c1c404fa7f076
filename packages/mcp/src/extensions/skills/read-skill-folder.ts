import type { FileStatus, Files, Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { type SkillOffer, skillOfFiles } from "./skill.js";
import { MAX_SKILL_BYTES, MAX_SKILL_FILES, pathProblem, SKILL_FILE, type SkillBudget } from "./skill-path.js";

/**
 * Maximum number of directory entries. Applies separately to each folder, to each skill with its subfolders, and to the
 * total of all folders outside skills. A source with more entries is refused.
 */
const MAX_ENTRIES = 10_000;

/**
 * Reads the skill in a folder if the folder contains a `SKILL.md`. Otherwise reads the skills in its subfolders, at any
 * depth. The folders between `source` and a skill become the prefix of the skill. Ignores files and folders whose names
 * begin with a dot. Throws for content that cannot be served, and if the skills would exceed `budget`.
 */
export function readSkillFolder(source: string, platform: Platform, budget: SkillBudget): SkillOffer[] {
  if (platform.files === undefined) {
    throw new McpError("unsupported", `this runtime has no file system, so the skills in "${source}" cannot be read`, {
      fix: "Pass the skills as values made by `skill`.",
    });
  }
  return new FolderReader(platform.files(), source, budget).skills();
}

class FolderReader {
  readonly #files: Files;
  readonly #source: string;
  readonly #budget: SkillBudget;
  /** Number of entries read so far from folders outside skills. */
  #entries = 0;

  constructor(files: Files, source: string, budget: SkillBudget) {
    this.#files = files;
    this.#source = source;
    this.#budget = budget;
  }

  skills(): SkillOffer[] {
    const root = this.#attempt(this.#source, () => this.#files.realpathSync(this.#source));
    const first = this.#status(root);
    const names = this.#names(root);
    // The root was resolved, so its last segment is the folder's real name.
    if (names.includes(SKILL_FILE)) return [this.#skill(root, root.split(/[\\/]/).at(-1) ?? "", first)];
    const found = this.#below(root, "", names);
    this.#checkSame(root, first);
    if (found.length > 0) return found;
    throw noSkill(this.#source, "Pass the folder that holds the skills.");
  }

  /** Reads the skills in the subfolders of a folder without a `SKILL.md`. */
  #below(folder: string, prefix: string, names: readonly string[]): SkillOffer[] {
    this.#entries += names.length;
    if (this.#entries > MAX_ENTRIES)
      throw refused(
        this.#source,
        `has more than ${MAX_ENTRIES} files and folders outside its skills`,
        "Pass fewer folders.",
      );
    return names.flatMap((name) => {
      const whole = `${folder}/${name}`;
      const status = this.#status(whole);
      if (status.isSymbolicLink()) throw refused(whole, "is a link", "Pass the target of the link.");
      if (!status.isDirectory()) return [];
      const path = prefix === "" ? name : `${prefix}/${name}`;
      const problem = pathProblem(path);
      if (problem !== undefined) throw refused(whole, problem, "Rename it.");
      const inside = this.#names(whole);
      if (inside.includes(SKILL_FILE)) return [this.#skill(whole, path, status)];
      const found = this.#below(whole, path, inside);
      if (found.length === 0) throw noSkill(whole, "Add a `SKILL.md`, or move this folder out of the skills folder.");
      this.#checkSame(whole, status);
      return found;
    });
  }

  #skill(root: string, skillPath: string, first: FileStatus): SkillOffer {
    this.#budget.addSkill();
    const found: [string, Uint8Array][] = [];
    const remaining = { bytes: MAX_SKILL_BYTES };
    let entries = 0;
    const walk = (folder: string, expected: FileStatus) => {
      const whole = folder === "" ? root : `${root}/${folder}`;
      const names = this.#names(whole);
      entries += names.length;
      if (entries > MAX_ENTRIES) throw refused(root, `has more than ${MAX_ENTRIES} entries`, "Split the skill.");
      for (const name of names) {
        const path = folder === "" ? name : `${folder}/${name}`;
        const problem = pathProblem(path);
        if (problem !== undefined) throw refused(`${root}/${path}`, problem, "Rename it.");
        const status = this.#status(`${root}/${path}`);
        if (status.isDirectory()) {
          walk(path, status);
          continue;
        }
        if (found.length === MAX_SKILL_FILES)
          throw refused(root, `has more than ${MAX_SKILL_FILES} files`, "Split the skill.");
        found.push([path, this.#read(root, path, status, remaining)]);
      }
      this.#checkSame(whole, expected);
    };
    walk("", first);
    return skillOfFiles(`the skill in ${root}`, skillPath, found);
  }

  /** Reads a regular file, or the target of a link within the same skill. */
  #read(root: string, path: string, status: FileStatus, remaining: { bytes: number }): Uint8Array {
    const shown = `${root}/${path}`;
    let real = shown;
    let expected = status;
    if (status.isSymbolicLink()) {
      real = this.#attempt(shown, () => this.#files.realpathSync(shown));
      if (!slashes(real).startsWith(`${slashes(root)}/`))
        throw refused(shown, "is a link that points outside the skill", "Copy the file into the skill.");
      expected = this.#status(real);
    }
    if (!expected.isFile()) throw refused(shown, "is not a regular file", "Remove it from the skill.");
    if (expected.size > remaining.bytes)
      throw refused(shown, `makes the skill larger than ${MAX_SKILL_BYTES} bytes`, "Split the skill.");
    remaining.bytes -= expected.size;
    this.#budget.addBytes(expected.size);
    return this.#attempt(shown, () => this.#content(shown, real, expected));
  }

  #content(shown: string, real: string, expected: FileStatus): Uint8Array {
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = this.#files.constants;
    // If a link or a pipe has replaced the file since, do not follow the link and do not wait for the pipe's writer.
    const descriptor = this.#files.openSync(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const { ino, dev, size } = this.#files.fstatSync(descriptor);
      const content = new Uint8Array(expected.size);
      let length = 0;
      for (let read = -1; read !== 0 && length < content.length; length += read)
        read = this.#files.readSync(descriptor, content, length, content.length - length, null);
      const same = ino === expected.ino && dev === expected.dev && size === expected.size && length === size;
      // `O_NOFOLLOW` covers only the last segment, so check that no folder above became a link.
      if (!same || !isSamePath(this.#files.realpathSync(real), real)) throw changed(shown);
      return content;
    } finally {
      this.#files.closeSync(descriptor);
    }
  }

  /** Throws if a folder was replaced while its files were read. */
  #checkSame(folder: string, { ino, dev }: FileStatus): void {
    const now = this.#status(folder);
    const real = this.#attempt(folder, () => this.#files.realpathSync(folder));
    if (now.ino !== ino || now.dev !== dev || !isSamePath(real, folder)) throw changed(folder);
  }

  /** Lists the names in a folder that are not hidden, sorted. */
  #names(folder: string): string[] {
    const names = this.#attempt(folder, () => this.#files.readdirSync(folder));
    if (names.length > MAX_ENTRIES)
      throw refused(folder, `has more than ${MAX_ENTRIES} entries`, "Pass another folder.");
    return names.filter((name) => !name.startsWith(".")).sort();
  }

  #status(path: string): FileStatus {
    return this.#attempt(path, () => this.#files.lstatSync(path));
  }

  #attempt<T>(path: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (McpError.is(error)) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new McpError("invalid_definition", `the skills in "${this.#source}" cannot be read: ${reason}`, {
        cause: error,
        fix: `Check that ${path} exists and is readable.`,
      });
    }
  }
}

const slashes = (path: string) => path.replaceAll("\\", "/");

function isSamePath(one: string, other: string): boolean {
  return slashes(one) === slashes(other);
}

function changed(path: string): McpError {
  return refused(path, "changed while it was read", "Try again.");
}

function refused(path: string, why: string, fix: string): McpError {
  return new McpError("invalid_definition", `the skills cannot be served: ${path} ${why}`, { fix });
}

function noSkill(path: string, fix: string): McpError {
  return refused(path, `has no ${SKILL_FILE}, and no folder with one`, fix);
}
