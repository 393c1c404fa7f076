import type { Files } from "../../platform/platform.js";
import { shownName } from "./config-problem.js";
import { absolutePath, readSmallFile } from "./small-file.js";
import { parseReferences, type Reference, ReferenceFlaw, type TextPart } from "./text-references.js";

/** A value that the user is asked for, as a file of VS Code declares it. */
export interface ConfigInput {
  readonly id: string;
  readonly type?: string | undefined;
  readonly description?: string | undefined;
  readonly default?: string | undefined;
  readonly password?: boolean | undefined;
  readonly options?: readonly string[] | undefined;
}

/** Where the values of references come from. */
export interface ValueSources {
  /** The environment; `process.env` on Node. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a file for `${file:…}` and `envFile`, at once. Default: through `files`. */
  readonly readFile?: ((path: string) => string) | undefined;
  /** Access to files, as `platform.files()` gives it. Default: none, and a reference to a file is a problem. */
  readonly files?: Files | undefined;
  /** The folder from which relative paths start, usually that of the file. Default: paths stay as they are. */
  readonly baseFolder?: string | undefined;
  /** The value of `${workspaceFolder}`. Default: `baseFolder`. */
  readonly workspaceFolder?: string | undefined;
  /** The value of `${userHome}`, and of `~` before a path. Default: `HOME` or `USERPROFILE` of `env`. */
  readonly userHome?: string | undefined;
  /** Gives the value of `${input:id}`; undefined disables the server. Default: none has a value. */
  readonly input?: ((id: string, declared: ConfigInput | undefined) => string | undefined) | undefined;
}

/** Tells of what a text lacks; never with a value. */
export type Report = (severity: "error" | "warning", message: string, fix: string) => void;

/** Longest text after its references are filled in, in characters. */
const MAX_VALUE_LENGTH = 128 * 1024;

/** Fills in the references of texts. Values that were filled in are never looked through again. */
export class TextExpander {
  readonly #from: ValueSources;
  readonly #inputs: ReadonlyMap<string, ConfigInput>;
  /** Whether `$NAME` is a reference. */
  readonly #bare: boolean;

  constructor(from: ValueSources, inputs: ReadonlyMap<string, ConfigInput> = new Map(), bare = false) {
    this.#from = from;
    this.#inputs = inputs;
    this.#bare = bare;
  }

  /** The text with its values; undefined if one is missing, which `report` has been told. */
  expand(text: string, report: Report): string | undefined {
    let parts: TextPart[];
    try {
      parts = parseReferences(text, this.#bare);
    } catch (error) {
      if (!(error instanceof ReferenceFlaw)) throw error;
      report("error", `the text ${error.message}`, "Correct the reference, or write `$${` for a plain `${`.");
      return undefined;
    }
    const value = this.#join(parts, report);
    if (value === undefined || value.length <= MAX_VALUE_LENGTH) return value;
    report(
      "error",
      `the value is longer than ${MAX_VALUE_LENGTH} characters (MAX_VALUE_LENGTH)`,
      "Pass less, or a path.",
    );
    return undefined;
  }

  /** The value of one variable of the environment. */
  variable(name: string): string | undefined {
    return Object.hasOwn(this.#from.env, name) ? this.#from.env[name] : undefined;
  }

  /** A path as the base folder and the home folder make it. */
  path(path: string): string {
    return absolutePath(path, this.#from.baseFolder, this.#home());
  }

  /** What a file holds; undefined if it cannot be read, which `report` has been told. `shown` names it without values. */
  file(path: string, shown: string, report: Report): string | undefined {
    const { readFile, files } = this.#from;
    if (readFile === undefined && files === undefined) {
      report("error", `${shown} cannot be read: there is no access to files`, "Pass `readFile` or `files`.");
      return undefined;
    }
    const whole = this.path(path);
    const found = readSmallFile(whole, readFile ?? files);
    if (typeof found === "string") return found;
    report("error", `${shown} cannot be read: ${found.why}`, "Check the path and who may read the file.");
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
        `the variable ${shown} is not set, so \`$${shown}\` stays as it is`,
        `Set ${shown}, or write a \`$\` that begins no name.`,
      );
      return `$${name}`;
    }
    report("error", `the variable ${shown} is not set`, `Set ${shown}, or give a default: \`\${${shown}:-…}\`.`);
    return undefined;
  }

  #inputValue(id: string, report: Report): string | undefined {
    const shown = shownName(id);
    let value: unknown;
    try {
      value = this.#from.input?.(id, this.#inputs.get(id));
    } catch {
      // Its message may quote what the user typed.
      report("error", `\`input\` failed for "${shown}"`, "Return a text, or undefined where there is none.");
      return undefined;
    }
    if (typeof value === "string") return value;
    // A promise is never awaited here, and must not end the process when it is rejected.
    if (value instanceof Promise) value.catch(() => {});
    report("error", `the input "${shown}" has no value`, "Pass an `input` function that returns it as a text.");
    return undefined;
  }

  #placeValue(name: Extract<Reference, { kind: "place" }>["name"], report: Report): string | undefined {
    if (name === "/" || name === "pathSeparator") return this.#separator();
    const value = name === "userHome" ? this.#home() : (this.#from.workspaceFolder ?? this.#from.baseFolder);
    if (value === undefined) {
      const option = name === "userHome" ? "userHome" : "workspaceFolder";
      report("error", `\`\${${name}}\` has no value`, `Pass \`${option}\`.`);
    }
    return name === "workspaceFolderBasename" ? value?.split(/[\\/]/).findLast((part) => part !== "") : value;
  }

  #home(): string | undefined {
    return this.#from.userHome ?? this.variable("HOME") ?? this.variable("USERPROFILE");
  }

  #separator(): string {
    const { baseFolder, workspaceFolder } = this.#from;
    return /^[A-Za-z]:\\/.test(workspaceFolder ?? baseFolder ?? this.#home() ?? "") ? "\\" : "/";
  }
}
