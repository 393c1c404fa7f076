import type { CommandDeclaration } from "../commands/command.js";

export const RECORDING_COMMANDS: readonly CommandDeclaration[] = [];
