import { CLIENT_MUTANTS } from "./client-mutants.js";
import { FOUND_ADMISSION } from "./found-admission.js";
import { FOUND_AUTH_CLIENT } from "./found-auth-client.js";
import { FOUND_AUTH_PROXY } from "./found-auth-proxy.js";
import { FOUND_AUTH_RESOURCE } from "./found-auth-resource.js";
import { FOUND_AUTH_SERVER } from "./found-auth-server.js";
import { FOUND_AUTH_TOKENS } from "./found-auth-tokens.js";
import { FOUND_CALLS } from "./found-calls.js";
import { FOUND_CLIENT_API } from "./found-client-api.js";
import { FOUND_CLIENT_SAFETY } from "./found-client-safety.js";
import { FOUND_COMMAND_LINE } from "./found-command-line.js";
import { FOUND_CORE } from "./found-core.js";
import { FOUND_DEFINITIONS } from "./found-definitions.js";
import { FOUND_EXTENSIONS } from "./found-extensions.js";
import { FOUND_GATEWAY } from "./found-gateway.js";
import { FOUND_LOGINS } from "./found-logins.js";
import { FOUND_NEWCOMER } from "./found-newcomer.js";
import { FOUND_NODES } from "./found-nodes.js";
import { FOUND_PROOF } from "./found-proof.js";
import { FOUND_SESSIONS } from "./found-sessions.js";
import { FOUND_TASKS } from "./found-tasks.js";
import { FOUND_WIRE } from "./found-wire.js";
import { HTTP_MUTANTS } from "./http-mutants.js";
import type { Mutant } from "./mutant.js";
import { PIPE_MUTANTS } from "./pipe-mutants.js";
import { SERVER_MUTANTS } from "./server-mutants.js";

/** Every defect that is written into the copy, one at a time. */
export const MUTANTS: readonly Mutant[] = [
  ...PIPE_MUTANTS,
  ...HTTP_MUTANTS,
  ...CLIENT_MUTANTS,
  ...SERVER_MUTANTS,
  ...FOUND_ADMISSION,
  ...FOUND_SESSIONS,
  ...FOUND_AUTH_PROXY,
  ...FOUND_CALLS,
  ...FOUND_DEFINITIONS,
  ...FOUND_CLIENT_SAFETY,
  ...FOUND_CLIENT_API,
  ...FOUND_WIRE,
  ...FOUND_PROOF,
  ...FOUND_NEWCOMER,
  ...FOUND_AUTH_SERVER,
  ...FOUND_LOGINS,
  ...FOUND_TASKS,
  ...FOUND_AUTH_CLIENT,
  ...FOUND_AUTH_RESOURCE,
  ...FOUND_AUTH_TOKENS,
  ...FOUND_GATEWAY,
  ...FOUND_EXTENSIONS,
  ...FOUND_NODES,
  ...FOUND_COMMAND_LINE,
  ...FOUND_CORE,
];
