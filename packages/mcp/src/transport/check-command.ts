import { McpError } from "../protocol/error.js";
import type { CommandTarget } from "./runtime-transports.js";

/** Throws `invalid_definition` if a program, its arguments or its environment cannot be started. */
export function checkCommand({ command, args, env, cwd, inheritEnv, stderr }: CommandTarget): void {
  if (typeof command !== "string" || command.trim() === "") {
    throw refusal(
      "command",
      command,
      "the name of a program",
      "Pass the program's name or path. Is an environment variable missing?",
    );
  }
  if (args !== undefined && !Array.isArray(args)) {
    throw refusal("args", args, "a list", 'Pass the arguments one by one, for example `args: ["server.js"]`.');
  }
  // Copied into an array with `entries`, which visits holes. `forEach` would skip them.
  for (const [index, arg] of [...(args ?? [])].entries()) {
    if (typeof arg !== "string") throw refusal(`args[${index}]`, arg, "a string", "Pass every argument as a string.");
  }
  if (env !== undefined) checkEnvironment(env);
  if (cwd !== undefined && typeof cwd !== "string") throw refusal("cwd", cwd, "a string", "Pass the path of a folder.");
  if (inheritEnv !== undefined && typeof inheritEnv !== "boolean" && !isListOfTexts(inheritEnv)) {
    throw refusal("inheritEnv", inheritEnv, "a list of names", "Pass `true`, or the names of variables.");
  }
  if (stderr !== undefined && stderr !== "capture" && stderr !== "inherit" && typeof stderr !== "function") {
    throw refusal("stderr", stderr, '"capture", "inherit" or a function', 'Pass "capture", "inherit" or a function.');
  }
}

/** Accepts undefined values, such as `process.env.NAME` of an unset variable. They are left out of the environment. */
function checkEnvironment(env: unknown): void {
  const fix = 'Pass variables as strings, for example `env: { PORT: "3000" }`.';
  if (typeof env !== "object" || env === null || Array.isArray(env)) throw refusal("env", env, "an object", fix);
  for (const [name, value] of Object.entries(env)) {
    // The message contains only the type, because the value may be a secret.
    if (value !== undefined && typeof value !== "string") {
      throw refused(`env.${name}`, value === null ? "null" : `of type ${typeof value}`, "a string", fix);
    }
    if (value?.includes("\0") === true) {
      throw refused(
        `env.${name}`,
        "a string with U+0000",
        "a variable",
        "Pass it without this character, because no program can receive it.",
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

/** Describes a value without calling `toString`, which may be missing or throw. */
function shownAs(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return "a list";
  if (typeof value === "function") return "a function";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

function refused(option: string, shown: string, wanted: string, fix: string): McpError {
  return new McpError("invalid_definition", `\`${option}\` of the command is ${shown}, not ${wanted}`, { fix });
}
