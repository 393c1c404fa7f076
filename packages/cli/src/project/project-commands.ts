import type { CommandDeclaration } from "../commands/command.js";

export const PROJECT_COMMANDS: readonly CommandDeclaration[] = [];
