import type { Mutant } from "./mutant.js";

/** Defects of the command line that were found once, written back into the sources. */
export const FOUND_COMMAND_LINE: readonly Mutant[] = [
  {
    name: "scope-advice-for-programs",
    recreates: "a call that lacks a scope is answered with advice for programs",
    file: "packages/cli/src/terminal/shell-advice.ts",
    search: '  if (kind === "insufficient_scope") {',
    replace: '  if (kind === ("none" as string)) {',
    tests: ["packages/cli/test/login/login.test.ts"],
  },
  {
    name: "lacking-scope-as-missing-login",
    recreates: "a token without a scope is reported as if there were no login",
    file: "auth/client/obtain-token.ts",
    search: "  if (held === undefined) return steps.failure(",
    replace: "  if (held === undefined || scopes.length > 0) return steps.failure(",
    tests: ["packages/cli/test/login/login.test.ts"],
  },
  {
    name: "login-keeps-lacking-token",
    recreates: "`parley login --scope` asks for nothing where a login without the scope is kept",
    file: "auth/client/obtain-token.ts",
    search: "  return requiredScopes.some((scope) => !scopes.includes(scope));",
    replace: "  return requiredScopes.length < 0 && scopes.length < 0;",
    tests: ["packages/cli/test/login/login.test.ts"],
  },
  {
    name: "env-of-module-refused",
    recreates: "`parley add` refuses --env for a module, which it starts as a program",
    file: "packages/cli/src/project/target-entry.ts",
    search: "resolveTarget(invocation, { startsModules: true })",
    replace: "resolveTarget(invocation)",
    tests: ["packages/cli/test/project/add.test.ts"],
  },
  {
    name: "env-of-module-dropped",
    recreates: "`parley add` leaves out the variables of a module",
    file: "packages/cli/src/project/target-entry.ts",
    search: ", ...programOptions(invocation) }",
    replace: " }",
    tests: ["packages/cli/test/project/add.test.ts"],
  },
  {
    name: "doctor-reports-what-was-sent",
    recreates: "doctor says that a program that starts slowly has a handshake, because one was sent too",
    file: "packages/cli/src/doctor/doctor.ts",
    search: 'era === "stateful" ? "with a handshake"',
    replace: 'era !== undefined ? "with a handshake"',
    tests: ["packages/cli/test/doctor/healthy-servers.test.ts"],
  },
  {
    name: "layers-not-reported",
    recreates: "the layers of a running call cannot be seen",
    file: "server/call/in-layer.ts",
    search: "      const end = follower.layer?.(layer, name);",
    replace: "      const end = follower.layer === undefined ? undefined : () => {};",
    tests: ["test/telemetry/trace-calls.test.ts"],
  },
  {
    name: "rounds-as-separate-calls",
    recreates: "a trace shows each round of a call as a call of its own",
    file: "client/connection/request-observers.ts",
    search: "      callId: call.firstId,",
    replace: "      callId: id,",
    tests: ["test/telemetry/trace-calls.test.ts"],
  },
];
