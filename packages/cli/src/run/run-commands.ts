import type { CommandDeclaration } from "../commands/command.js";

export const RUN_COMMANDS: readonly CommandDeclaration[] = [];
