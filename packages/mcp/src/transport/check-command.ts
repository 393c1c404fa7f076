import { McpError } from "../protocol/error.js";
import type { CommandTarget } from "./runtime-transports.js";

/** Throws `invalid_definition` for a program, its arguments or its environment that cannot be started. */
export function checkCommand({ command, args, env, cwd, inheritEnv, stderr }: CommandTarget): void {
  if (typeof command !== "string" || command.trim() === "") {
    throw refusal(
      "command",
      command,
      "the name of a program",
      "Pass the program's name or path; is a variable missing?",
    );
  }
  if (args !== undefined && !Array.isArray(args)) {
    throw refusal("args", args, "a list", 'Pass the arguments one by one, for example `args: ["server.js"]`.');
  }
  // By iteration: `forEach` passes over the holes of a list.
  for (const [index, arg] of [...(args ?? [])].entries()) {
    if (typeof arg !== "string") throw refusal(`args[${index}]`, arg, "a text", "Pass every argument as a text.");
  }
  if (env !== undefined) checkEnvironment(env);
  if (cwd !== undefined && typeof cwd !== "string") throw refusal("cwd", cwd, "a text", "Pass the path of a folder.");
  if (inheritEnv !== undefined && typeof inheritEnv !== "boolean" && !isListOfTexts(inheritEnv)) {
    throw refusal("inheritEnv", inheritEnv, "a list of names", "Pass `true`, or the names of variables.");
  }
  if (stderr !== undefined && stderr !== "capture" && stderr !== "inherit" && typeof stderr !== "function") {
    throw refusal("stderr", stderr, "a way to handle it", 'Pass "capture", "inherit" or a function.');
  }
}

/** Accepts undefined values, which are left out, because `process.env` has them where a variable is not set. */
function checkEnvironment(env: unknown): void {
  const fix = 'Pass variables as texts, for example `env: { PORT: "3000" }`.';
  if (typeof env !== "object" || env === null || Array.isArray(env)) throw refusal("env", env, "an object", fix);
  for (const [name, value] of Object.entries(env)) {
    // The value may be a secret; its type is enough to find the mistake.
    if (value !== undefined && typeof value !== "string") {
      throw refused(`env.${name}`, value === null ? "null" : `of type ${typeof value}`, "a text", fix);
    }
    if (value?.includes("\0") === true) {
      throw refused(
        `env.${name}`,
        "a text with U+0000",
        "a variable",
        "Pass it without this character, which no program can receive.",
      );
    }
  }
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function refusal(option: string, value: unknown, wanted: string, fix: string): McpError {
  return refused(option, shownAs(value), wanted, fix);
}

/** Never calls `toString` of an object, which may be missing or throw. */
function shownAs(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return "a list";
  if (typeof value === "function") return "a function";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

function refused(option: string, shown: string, wanted: string, fix: string): McpError {
  return new McpError("invalid_definition", `\`${option}\` of the command is ${shown}, not ${wanted}`, { fix });
}
