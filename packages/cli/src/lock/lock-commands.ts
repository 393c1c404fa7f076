import type { CommandDeclaration } from "../commands/command.js";

export const LOCK_COMMANDS: readonly CommandDeclaration[] = [];
