import type { CommandDeclaration } from "../commands/command.js";

export const TYPES_COMMANDS: readonly CommandDeclaration[] = [];
