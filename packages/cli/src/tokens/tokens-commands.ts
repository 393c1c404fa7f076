import type { CommandDeclaration } from "../commands/command.js";

export const TOKENS_COMMANDS: readonly CommandDeclaration[] = [];
