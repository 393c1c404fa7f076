import { readFileSync, realpathSync, statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { isSecretName } from "@parley/mcp/recording";
import { UsageError } from "../terminal/usage-error.js";

/** A JSON object whose members are not checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The project whose server is published. */
export interface PublishProject {
  readonly folder: string;
  /** The content of `package.json`. */
  readonly manifest: JsonObject;
  /** The member `parley.publish` of `package.json`. */
  readonly settings: PublishSettings;
  /** The existing `server.json`. */
  readonly serverJson?: JsonObject | undefined;
}

/** Settings that a project repeats for every release. Options of the command line add to them. */
export interface PublishSettings {
  /** Environment variables of the server. */
  readonly env: readonly DeclaredVariable[];
  /** Addresses at which the server is reachable. */
  readonly remotes: readonly string[];
  /** The path of a PNG file. */
  readonly icon?: string | undefined;
  /** The download address of the bundle. `{version}` stands for the version. */
  readonly mcpbUrl?: string | undefined;
  /** The address of a package that serves HTTP, as a template. */
  readonly http?: string | undefined;
}

/** An environment variable in the form of `server.json`. */
export interface DeclaredVariable {
  readonly name: string;
  readonly description?: string;
  readonly isRequired?: boolean;
  readonly isSecret?: boolean;
  readonly format?: string;
  readonly default?: string;
  readonly choices?: readonly string[];
}

/** Maximum size of `package.json` and `server.json`, so that a wrong path does not fill the memory. */
const MAX_JSON_BYTES = 1024 * 1024;

/** Reads `package.json` and `server.json` of a folder. Throws a `UsageError` for files that are not usable. */
export function readProject(folder: string): PublishProject {
  const manifest = readJsonObject(folder, "package.json");
  if (manifest === undefined) {
    throw new UsageError(`${folder} has no package.json`, "Run the command in the folder of the server's package.");
  }
  const settings = settingsOf(objectOf(objectOf(manifest["parley"])?.["publish"]) ?? {});
  return { folder, manifest, settings, serverJson: readJsonObject(folder, "server.json") };
}

function readJsonObject(folder: string, name: string): JsonObject | undefined {
  let text: string;
  try {
    if (statSync(join(folder, name)).size > MAX_JSON_BYTES)
      throw new UsageError(`${name} is larger than ${MAX_JSON_BYTES} bytes`, "Check the file.");
    text = readFileSync(join(folder, name), "utf8");
  } catch (reason) {
    if (reason instanceof UsageError) throw reason;
    if ((reason as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new UsageError(`${name} cannot be read: ${messageOf(reason)}`, "Check the permissions of the file.");
  }
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (reason) {
    throw new UsageError(`${name} is not valid JSON: ${messageOf(reason)}`, "Correct the file.");
  }
  const object = objectOf(value);
  if (object === undefined) throw new UsageError(`${name} is not a JSON object`, "Correct the file.");
  return object;
}

/** The members of `parley.publish`, with the check of each. */
const SETTINGS: Readonly<Record<keyof PublishSettings, (value: unknown) => boolean>> = {
  env: (value) => Array.isArray(value) && value.every((item) => textOf(objectOf(item)?.["name"] ?? item) !== undefined),
  remotes: (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
  icon: (value) => typeof value === "string",
  mcpbUrl: (value) => typeof value === "string",
  http: (value) => typeof value === "string",
};

function settingsOf(given: JsonObject): PublishSettings {
  for (const [name, value] of Object.entries(given)) {
    const check = Object.hasOwn(SETTINGS, name) ? SETTINGS[name as keyof PublishSettings] : undefined;
    if (check === undefined) {
      const known = Object.keys(SETTINGS).join(", ");
      throw new UsageError(`package.json has an unknown setting parley.publish.${name}`, `Use one of: ${known}.`);
    }
    if (!check(value)) {
      throw new UsageError(
        `the setting parley.publish.${name} of package.json has the wrong type`,
        "`env` and `remotes` are arrays, the others are strings.",
      );
    }
  }
  const env = (given["env"] ?? []) as readonly (string | DeclaredVariable)[];
  return {
    ...given,
    env: env.map((item) => (typeof item === "string" ? declaredVariable(item) : item)),
    // Checked above.
    remotes: (given["remotes"] ?? []) as readonly string[],
  };
}

/** Declares a required variable. It is secret if its name says so, such as `GITHUB_TOKEN`. */
export function declaredVariable(name: string, isSecret = isSecretName(name)): DeclaredVariable {
  return { name, isRequired: true, ...(isSecret ? { isSecret } : {}) };
}

/**
 * Resolves a path of the user inside the project. Throws a `UsageError` for a path that leads out of it, also through a
 * symbolic link.
 */
export function pathInProject(folder: string, path: string, what: string): string {
  const isInside = (base: string, other: string) => {
    const way = relative(base, other);
    return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && resolve(base, way) === resolve(other);
  };
  const full = resolve(folder, path);
  const outside = new UsageError(`${what} ${path} is outside of the project`, `Name a file inside ${folder}.`);
  if (!isInside(folder, full)) throw outside;
  const exists = statSync(full, { throwIfNoEntry: false }) !== undefined;
  if (exists && !isInside(realpathSync(folder), realpathSync(full))) throw outside;
  return full;
}

/** The path of the program that `npx` starts. It may not exist yet. Undefined if the package has none. */
export function programFile({ folder, manifest }: PublishProject): string | undefined {
  const own = textOf(manifest["name"])?.replace(/^@[^/]*\//, "") ?? "";
  const named = objectOf(manifest["bin"]) ?? {};
  const paths = [manifest["bin"], named[own], ...Object.values(named)].map(textOf);
  const path = paths.find((one) => one !== undefined);
  return path === undefined ? undefined : pathInProject(folder, path, "`bin` of package.json");
}

/** Returns a value that is an object and not an array. */
export function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** Returns a value that is a string and not empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns the objects of an array. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(objectOf).filter((item) => item !== undefined) : [];
}

/** Returns the first line of an error's message. */
export function messageOf(reason: unknown): string {
  const [line = ""] = (reason instanceof Error ? reason.message : String(reason)).split("\n");
  return line;
}
