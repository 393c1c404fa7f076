export type { LoadedSkill, SkillFile } from "./extensions/skills/loaded-skill.js";
export {
  type GeneratedContent,
  type SkillContent,
  type SkillDefinition,
  type SkillOffer,
  skill,
} from "./extensions/skills/skill.js";
export { type ServerSkills, type SkillSource, type SkillsOptions, skills } from "./extensions/skills/skills.js";
export { type LoadSkillOptions, type SkillsClient, skillsExtension } from "./extensions/skills/skills-extension.js";
export {
  type GetSkillRequestParams,
  type GetSkillResult,
  type ListSkillsRequestParams,
  type ListSkillsResult,
  type ReadResourceDirectoryRequestParams,
  type ReadResourceDirectoryResult,
  SKILLS_EXTENSION,
  type Skill,
  type SkillFrontmatter,
  type SkillResource,
} from "./protocol/features/skills.js";
