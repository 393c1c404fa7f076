import type { CommandDeclaration } from "../commands/command.js";

export const LOGIN_COMMANDS: readonly CommandDeclaration[] = [];
