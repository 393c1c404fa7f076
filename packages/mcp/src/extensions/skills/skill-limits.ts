import { McpError } from "../../protocol/error.js";

// Spec: Skills, "Limits", https://github.com/modelcontextprotocol/ext-skills

/** Files of one skill, `SKILL.md` included. */
export const MAX_SKILL_FILES = 512;

/** Bytes of all files of one skill. */
export const MAX_SKILL_BYTES = 16 * 1024 * 1024;

/** Skills of one server; more would make every listing slow. */
const MAX_SKILLS = 1000;

/** Bytes of all skills of one server, because they are held in memory. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;

/** What a server may still hold. */
export class HeldSkills {
  #skills = 0;
  #bytes = 0;

  /** Counts a skill. Throws if it is one too many. */
  addSkill(): void {
    if (++this.#skills > MAX_SKILLS) throw tooMuch(`${MAX_SKILLS} skills`);
  }

  /** Counts bytes. Throws if they are too many. */
  addBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > MAX_HELD_BYTES) throw tooMuch(`${MAX_HELD_BYTES} bytes of skills`);
  }
}

function tooMuch(limit: string): McpError {
  return new McpError("limit_exceeded", `a server holds at most ${limit}`, { fix: "Serve fewer skills." });
}
