import type { ExtendedClient } from "../../client/contract/extension.js";
import type { CallOptions } from "../../client/contract/options.js";
import { fromBase64 } from "../../encoding/base64.js";
import { McpError } from "../../protocol/error.js";
import { isResourceContents } from "../../protocol/features/content.js";
import type { Skill } from "../../protocol/features/skills.js";
import { type CheckedSkill, differingField } from "./check-skill.js";
import { readSkillText, type SkillText } from "./frontmatter.js";
import { digestOf } from "./served-skill.js";
import { decodeText, encodedText } from "./skill.js";
import { MAX_SKILL_BYTES, pathInSkill, pathProblem, SKILL_FILE } from "./skill-path.js";

/** Upper estimate for the size of a response without the file's content, in bytes. */
const MESSAGE_OVERHEAD_BYTES = 65_536;

/**
 * A file of a skill, verified against the size and digest in the entry. Files of a dynamic skill are not verified,
 * because the entry of a dynamic skill states no sizes and digests.
 */
export interface SkillFile {
  /** The path inside the skill, such as `references/forms.md`. */
  readonly path: string;
  /** The URI of the file on the server. */
  readonly uri: string;
  /** The MIME type that the server stated. Undefined if it stated none. */
  readonly mimeType: string | undefined;
  /** The content of the file. */
  readonly bytes: Uint8Array;
  /** The content as text. Undefined if the bytes are not UTF-8 or contain NULs. */
  readonly text: string | undefined;
}

/**
 * A skill whose `SKILL.md` was read and verified. All files are verified against the entry that the skill was loaded
 * with, so a file that the server has changed since then is rejected.
 */
export class LoadedSkill {
  /** The entry that all files are verified against. */
  readonly entry: Skill;
  /** The instructions: `SKILL.md` without its frontmatter. */
  readonly body: string;
  /** The paths of all files. For a dynamic skill, which lists no files, only `SKILL.md`. */
  readonly paths: readonly string[];
  readonly #reader: SkillReader;

  constructor(reader: SkillReader, { body }: SkillText) {
    this.#reader = reader;
    this.entry = reader.skill.entry;
    this.body = body;
    this.paths = [...(reader.skill.files?.keys() ?? [SKILL_FILE])];
  }

  /**
   * Reads a file by its path or URI. Rejects with `invalid_response` if its size or digest differs from the entry, and
   * with `invalid_params` if the entry does not list the file.
   */
  read(path: string, options?: CallOptions): Promise<SkillFile> {
    return this.#reader.read(path, options);
  }

  /** Reads all files of the entry, one after the other. */
  async *readAll(options?: CallOptions): AsyncGenerator<SkillFile, void, undefined> {
    for (const path of this.paths) yield await this.#reader.read(path, options);
  }
}

/** Reads and verifies the files of one entry. */
export class SkillReader {
  readonly skill: CheckedSkill;
  readonly #client: ExtendedClient;
  /**
   * Number of bytes read so far from a dynamic skill. Counted here, because the entry of a dynamic skill states no
   * sizes.
   */
  #received = 0;

  constructor(client: ExtendedClient, skill: CheckedSkill) {
    this.#client = client;
    this.skill = skill;
  }

  /** Reads `SKILL.md` and compares its frontmatter with the entry, field by field. */
  async load(options?: CallOptions): Promise<LoadedSkill> {
    const { uri, frontmatter } = this.skill.entry;
    const { text } = await this.read(SKILL_FILE, options);
    let read: SkillText;
    try {
      if (text === undefined) throw new Error("it is not text in UTF-8");
      read = readSkillText(text);
    } catch (error) {
      throw unverified(uri, error instanceof Error ? error.message : String(error));
    }
    const field = differingField(read.frontmatter, frontmatter);
    if (field !== undefined) throw unverified(uri, `its field "${field}" differs from the entry`);
    return new LoadedSkill(this, read);
  }

  async read(path: string, options?: CallOptions): Promise<SkillFile> {
    const file = this.#find(path);
    const result = await this.#request(file, options);
    const contents: unknown[] = Array.isArray(result["contents"]) ? result["contents"] : [];
    const [content, ...others] = contents;
    if (!isResourceContents(content) || others.length > 0 || content.uri !== file.uri)
      throw unverified(file.uri, "the server did not return exactly this file");
    const bytes = "blob" in content ? decode(file.uri, content.blob) : new TextEncoder().encode(content.text);
    this.#verify(file, bytes);
    const text = "blob" in content ? decodeText(bytes) : encodedText(bytes);
    const { mimeType } = content;
    return {
      path: file.path,
      uri: file.uri,
      mimeType: typeof mimeType === "string" ? mimeType : undefined,
      bytes,
      text,
    };
  }

  async #request(
    { uri, size = MAX_SKILL_BYTES }: SkillFileInfo,
    options?: CallOptions,
  ): Promise<Record<string, unknown>> {
    try {
      return await this.#client.request("resources/read", { uri }, options);
    } catch (error) {
      if (!McpError.is(error) || error.kind !== "oversized_frame") throw error;
      // Base64 adds a third, and escaped line breaks and quotes at most double a text, so twice the size is enough.
      const needed = 2 * size + MESSAGE_OVERHEAD_BYTES;
      throw new McpError(error.kind, error.message, {
        cause: error,
        data: error.data,
        fix: `Pass \`maxMessageBytes: ${needed}\` to \`connect\`: a file of a skill arrives in one message.`,
        operation: error.operation,
      });
    }
  }

  #verify({ uri, size, digest }: SkillFileInfo, bytes: Uint8Array): void {
    if (size === undefined || digest === undefined) {
      this.#received += bytes.length;
      if (this.#received > MAX_SKILL_BYTES)
        throw new McpError(
          "limit_exceeded",
          `more than ${MAX_SKILL_BYTES} bytes of the skill ${this.skill.root} were read`,
          {
            fix: "Load the skill again, and read only what is needed.",
          },
        );
      return;
    }
    if (bytes.length !== size) throw unverified(uri, `it has ${bytes.length} bytes, but the entry states ${size}`);
    if (digestOf(bytes, this.#client.platform) !== digest) throw unverified(uri, "its digest differs from the entry");
  }

  /** Resolves a path or a URI. Throws `invalid_params` for a file that the entry does not list. */
  #find(given: string): SkillFileInfo {
    const { root, files } = this.skill;
    const path = given.includes("://") ? pathInSkill(root, given) : given.replace(/^(?:\.\/)+/, "");
    if (path !== undefined && files === undefined && pathProblem(path) === undefined)
      return { path, uri: `${root}/${path.split("/").map(encodeURIComponent).join("/")}` };
    const key = path?.normalize("NFC") ?? "";
    const file = files?.get(key);
    if (file !== undefined) return { path: key, ...file };
    throw new McpError("invalid_params", `${JSON.stringify(given)} is not a file of the skill ${root}`, {
      fix: "Read one of its `paths`; if the skill has changed, get its entry again and load that.",
    });
  }
}

interface SkillFileInfo {
  readonly path: string;
  readonly uri: string;
  readonly digest?: string;
  readonly size?: number;
}

function decode(uri: string, blob: unknown): Uint8Array {
  try {
    if (typeof blob === "string") return fromBase64(blob);
  } catch {
    // Reported below.
  }
  throw unverified(uri, "its content is not Base64");
}

/** The error for content that differs from the entry. None of that content may be used. */
function unverified(uri: string, why: string): McpError {
  return new McpError("invalid_response", `${uri} cannot be used: ${why}`, {
    data: { uri },
    fix: "Get the entry again without `cache`, and load that. If it still differs, report it to the author of the server.",
    operation: { method: "resources/read", target: uri },
  });
}
