import type { CommandDeclaration } from "../commands/command.js";

export const LINT_COMMANDS: readonly CommandDeclaration[] = [];
