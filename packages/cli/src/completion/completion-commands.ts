import type { CommandDeclaration } from "../commands/command.js";

export const COMPLETION_COMMANDS: readonly CommandDeclaration[] = [];
