import { COMPLETION_COMMANDS } from "../completion/completion-commands.js";
import { DOCTOR_COMMANDS } from "../doctor/doctor-commands.js";
import { INSPECT_COMMANDS } from "../inspect/inspect-commands.js";
import { LINT_COMMANDS } from "../lint/lint-commands.js";
import { LOCK_COMMANDS } from "../lock/lock-commands.js";
import { LOGIN_COMMANDS } from "../login/login-commands.js";
import { PROJECT_COMMANDS } from "../project/project-commands.js";
import { PUBLISH_COMMANDS } from "../publish/publish-commands.js";
import { RECORDING_COMMANDS } from "../recording/recording-commands.js";
import { RUN_COMMANDS } from "../run/run-commands.js";
import { TOKENS_COMMANDS } from "../tokens/tokens-commands.js";
import { TYPES_COMMANDS } from "../typed-code/types-commands.js";
import { USE_COMMANDS } from "../use/use-commands.js";
import type { CommandDeclaration } from "./command.js";

/** Every command, grouped by purpose, in the order of the help text. `docs/cli.md` has the same groups. */
export const COMMAND_GROUPS: readonly { readonly title: string; readonly commands: readonly CommandDeclaration[] }[] = [
  { title: "Using a server", commands: USE_COMMANDS },
  { title: "Finding what is broken", commands: DOCTOR_COMMANDS },
  { title: "Checks", commands: [...LINT_COMMANDS, ...LOCK_COMMANDS] },
  { title: "Types and tokens", commands: [...TYPES_COMMANDS, ...TOKENS_COMMANDS] },
  { title: "Running servers", commands: RUN_COMMANDS },
  { title: "The inspector", commands: INSPECT_COMMANDS },
  { title: "Recording", commands: RECORDING_COMMANDS },
  { title: "Projects", commands: [...PROJECT_COMMANDS, ...PUBLISH_COMMANDS] },
  { title: "Logging in, and the shell", commands: [...LOGIN_COMMANDS, ...COMPLETION_COMMANDS] },
];

/** Every command, in the order of the help text. */
export const ALL_COMMANDS: readonly CommandDeclaration[] = COMMAND_GROUPS.flatMap(({ title, commands }) =>
  commands.map((command) => ({ ...command, group: title })),
);
