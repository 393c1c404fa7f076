import type { CommandDeclaration } from "../commands/command.js";

export const DOCTOR_COMMANDS: readonly CommandDeclaration[] = [];
