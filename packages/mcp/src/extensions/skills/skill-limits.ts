// Spec: Skills, "Limits", https://github.com/modelcontextprotocol/ext-skills

/** Files of one skill, `SKILL.md` included. */
export const MAX_SKILL_FILES = 512;

/** Bytes of all files of one skill. */
export const MAX_SKILL_BYTES = 16 * 1024 * 1024;
