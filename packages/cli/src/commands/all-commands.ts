import { COMPLETION_COMMANDS } from "../completion/completion-commands.js";
import { DOCTOR_COMMANDS } from "../doctor/doctor-commands.js";
import { INSPECT_COMMANDS } from "../inspect/inspect-commands.js";
import { LINT_COMMANDS } from "../lint/lint-commands.js";
import { LOCK_COMMANDS } from "../lock/lock-commands.js";
import { LOGIN_COMMANDS } from "../login/login-commands.js";
import { PROJECT_COMMANDS } from "../project/project-commands.js";
import { RECORDING_COMMANDS } from "../recording/recording-commands.js";
import { RUN_COMMANDS } from "../run/run-commands.js";
import { TOKENS_COMMANDS } from "../tokens/tokens-commands.js";
import { TYPES_COMMANDS } from "../typed-code/types-commands.js";
import { USE_COMMANDS } from "../use/use-commands.js";
import type { CommandDeclaration } from "./command.js";

/** Every command, in the order of help. */
export const ALL_COMMANDS: readonly CommandDeclaration[] = [
  ...USE_COMMANDS,
  ...INSPECT_COMMANDS,
  ...DOCTOR_COMMANDS,
  ...LINT_COMMANDS,
  ...TOKENS_COMMANDS,
  ...LOCK_COMMANDS,
  ...TYPES_COMMANDS,
  ...RUN_COMMANDS,
  ...RECORDING_COMMANDS,
  ...PROJECT_COMMANDS,
  ...LOGIN_COMMANDS,
  ...COMPLETION_COMMANDS,
];
