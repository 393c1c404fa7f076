import { type AppPages, apps } from "@parley/mcp/apps";
import type { DefinedExtension } from "@parley/mcp/extension";
import { type SkillsClient, skillsExtension } from "@parley/mcp/skills";
import { type TaskFeature, tasks } from "@parley/mcp/tasks";

/** The extensions of every client of the inspector. Used as in `client.extension(extensions.skills)`. */
export interface InspectedExtensions {
  readonly tasks: DefinedExtension<TaskFeature>;
  readonly skills: DefinedExtension<SkillsClient>;
  readonly apps: DefinedExtension<AppPages>;
}

export function inspectedExtensions(): InspectedExtensions {
  return { tasks: tasks(), skills: skillsExtension, apps: apps() };
}
