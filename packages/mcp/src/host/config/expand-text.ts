import type { Files } from "../../platform/platform.js";
import { shownName } from "./config-problem.js";
import { absolutePath, readSmallFile } from "./small-file.js";
import { parseReferences, type Reference, ReferenceFlaw, type TextPart } from "./text-references.js";

/** A value to ask the user for, as VS Code files declare it under `inputs`. */
export interface ConfigInput {
  /** The id that `${input:id}` refers to. */
  readonly id: string;
  /** The kind of input, such as `promptString` or `pickString`. */
  readonly type?: string | undefined;
  /** The text that the user is shown. */
  readonly description?: string | undefined;
  /** The value to suggest to the user. Used only if `input` returns it. */
  readonly default?: string | undefined;
  /** True if the value must be hidden while the user types it. */
  readonly password?: boolean | undefined;
  /** The values to choose from, for an input of type `pickString`. */
  readonly options?: readonly string[] | undefined;
}

/** The sources from which references get their values. */
export interface ValueSources {
  /** The environment; on Node `process.env`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a file synchronously, for `${file:…}` and `envFile`. Default: reads through `files`. */
  readonly readFile?: ((path: string) => string) | undefined;
  /** Access to files, as `platform.files()` returns it. Default: none, so that a reference to a file is a problem. */
  readonly files?: Files | undefined;
  /**
   * The folder that relative paths are resolved against, usually that of the configuration file. Default: paths are not
   * resolved.
   */
  readonly baseFolder?: string | undefined;
  /** The value of `${workspaceFolder}`. Default: `baseFolder`. */
  readonly workspaceFolder?: string | undefined;
  /** The value of `${userHome}` and of a leading `~` in paths. Default: `HOME` or `USERPROFILE` of `env`. */
  readonly userHome?: string | undefined;
  /** Returns the value of `${input:id}`; undefined disables the server. Default: no input has a value. */
  readonly input?: ((id: string, declared: ConfigInput | undefined) => string | undefined) | undefined;
}

/** Reports a problem with a string. The texts of the problem never contain a value. */
export type Report = (severity: "error" | "warning", message: string, fix: string) => void;

/** Maximum length of a string in characters, after its references are filled in. */
const MAX_VALUE_LENGTH = 128 * 1024;

/** Fills in the references of strings. Values that were filled in are not expanded again. */
export class TextExpander {
  readonly #sources: ValueSources;
  readonly #inputs: ReadonlyMap<string, ConfigInput>;
  /** True if `$NAME` is a reference. */
  readonly #bare: boolean;

  constructor(from: ValueSources, inputs: ReadonlyMap<string, ConfigInput> = new Map(), bare = false) {
    this.#sources = from;
    this.#inputs = inputs;
    this.#bare = bare;
  }

  /**
   * Returns the string with its references filled in. Returns undefined if the string is invalid or too long, or if a
   * reference has no value; `report` has then been called with the problem.
   */
  expand(text: string, report: Report): string | undefined {
    let parts: TextPart[];
    try {
      parts = parseReferences(text, this.#bare);
    } catch (error) {
      if (!(error instanceof ReferenceFlaw)) throw error;
      report("error", `the text ${error.message}`, "Correct the reference, or write `$${` for a literal `${`.");
      return undefined;
    }
    const value = this.#join(parts, report);
    if (value === undefined || value.length <= MAX_VALUE_LENGTH) return value;
    report(
      "error",
      `the value is longer than ${MAX_VALUE_LENGTH} characters (MAX_VALUE_LENGTH)`,
      "Shorten the value, or pass the path of a file.",
    );
    return undefined;
  }

  /** The value of an environment variable. */
  variable(name: string): string | undefined {
    return Object.hasOwn(this.#sources.env, name) ? this.#sources.env[name] : undefined;
  }

  /** Resolves a path against the base folder or, with a leading `~`, the home folder. */
  path(path: string): string {
    return absolutePath(path, this.#sources.baseFolder, this.#home());
  }

  /**
   * Returns the content of a file. Returns undefined if the file cannot be read; `report` has then been called with the
   * problem. `shown` names the file in messages, without values.
   */
  file(path: string, shown: string, report: Report): string | undefined {
    const { readFile, files } = this.#sources;
    if (readFile === undefined && files === undefined) {
      report("error", `${shown} cannot be read without access to files`, "Pass `readFile` or `files`.");
      return undefined;
    }
    const whole = this.path(path);
    const found = readSmallFile(whole, readFile ?? files);
    if (typeof found === "string") return found;
    report("error", `${shown} cannot be read: ${found.why}`, "Check the path and the permissions of the file.");
    return undefined;
  }

  #join(parts: readonly TextPart[], report: Report): string | undefined {
    let whole = "";
    for (const part of parts) {
      const value = typeof part === "string" ? part : this.#value(part, report);
      if (value === undefined) return undefined;
      whole += value;
    }
    return whole;
  }

  #value(reference: Reference, report: Report): string | undefined {
    if (reference.kind === "env") return this.#envValue(reference, report);
    if (reference.kind === "input") return this.#inputValue(reference.id, report);
    if (reference.kind === "place") return this.#placeValue(reference.name, report);
    const path = this.#join(reference.path, report);
    if (path === undefined) return undefined;
    const [only] = reference.path;
    const shown = reference.path.length === 1 && typeof only === "string" ? `the file "${shownName(only)}"` : "a file";
    return this.file(path, shown, report)?.trim();
  }

  #envValue(reference: Extract<Reference, { kind: "env" }>, report: Report): string | undefined {
    const { name, otherwise } = reference;
    const value = this.variable(name);
    if (otherwise !== undefined && (value === undefined || value === "")) return this.#join(otherwise, report);
    if (value !== undefined) return value;
    const shown = shownName(name);
    if (reference.bare === true) {
      report(
        "warning",
        `the variable ${shown} is not set, so \`$${shown}\` is left unchanged`,
        `Set ${shown}, or ignore this if the \`$\` is meant literally.`,
      );
      return `$${name}`;
    }
    report("error", `the variable ${shown} is not set`, `Set ${shown}, or add a default: \`\${${shown}:-…}\`.`);
    return undefined;
  }

  #inputValue(id: string, report: Report): string | undefined {
    const shown = shownName(id);
    let value: unknown;
    try {
      value = this.#sources.input?.(id, this.#inputs.get(id));
    } catch {
      // The message omits the error, which may quote the user's input.
      report(
        "error",
        `the \`input\` function threw an error for "${shown}"`,
        "Return a string, or undefined if there is no value.",
      );
      return undefined;
    }
    if (typeof value === "string") return value;
    // The promise is not awaited; its rejection must not end the process.
    if (value instanceof Promise) value.catch(() => {});
    report("error", `the input "${shown}" has no value`, "Pass an `input` function that returns it as a string.");
    return undefined;
  }

  #placeValue(name: Extract<Reference, { kind: "place" }>["name"], report: Report): string | undefined {
    if (name === "/" || name === "pathSeparator") return this.#separator();
    const value = name === "userHome" ? this.#home() : (this.#sources.workspaceFolder ?? this.#sources.baseFolder);
    if (value === undefined) {
      const option = name === "userHome" ? "userHome" : "workspaceFolder";
      report("error", `\`\${${name}}\` has no value`, `Pass \`${option}\`.`);
    }
    return name === "workspaceFolderBasename" ? value?.split(/[\\/]/).findLast((part) => part !== "") : value;
  }

  #home(): string | undefined {
    return this.#sources.userHome ?? this.variable("HOME") ?? this.variable("USERPROFILE");
  }

  #separator(): string {
    const { baseFolder, workspaceFolder } = this.#sources;
    return /^[A-Za-z]:\\/.test(workspaceFolder ?? baseFolder ?? this.#home() ?? "") ? "\\" : "/";
  }
}
