import { McpError } from "@parley/mcp";

/** Where something stands in a file, counted from 1. */
interface Place {
  readonly file: string;
  readonly line: number;
  readonly column?: number;
}

/** A module of the user that cannot be loaded: where, why, and what to change. */
export function moduleFailure(place: Place, message: string, fix: string, cause?: unknown): McpError {
  const { file, line, column } = place;
  const at = line > 0 ? `${file}:${line}${column === undefined ? "" : `:${column}`}` : file;
  const failure = new McpError("invalid_definition", `${at}: ${message}`, { fix, cause });
  // What --debug shows is where the module failed, and nothing of this program.
  if (cause instanceof Error && cause.stack !== undefined) failure.stack = cause.stack;
  return failure;
}

/** The error that a module threw, during its evaluation or later, with the innermost line of the user's own files. */
export function thrownFailure(
  thrown: unknown,
  path: string,
  own: ReadonlySet<string>,
  advice = "The module throws while it is loaded; correct this line.",
): McpError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const fix = McpError.is(thrown) && thrown.fix !== "" ? thrown.fix : advice;
  const place = placeOf(thrown, own) ?? { file: path, line: 0 };
  return moduleFailure(place, message === "" ? "the module throws an error without a message" : message, fix, thrown);
}

const FRAME = /(?:\(|at )(?:async )?(?:file:\/\/)?([^()]+?):(\d+):(\d+)\)?$/;

function placeOf(thrown: unknown, own: ReadonlySet<string>): Place | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const lines = (thrown.stack ?? "").split("\n").slice(0, MOST_FRAMES);
  // An error of syntax names its place in the first line: `/folder/file.js:3`.
  const [, first, firstLine] = /^(.+):(\d+)$/.exec(lines[0] ?? "") ?? [];
  if (first !== undefined && own.has(first)) return { file: first, line: Number(firstLine) };
  for (const frame of lines) {
    const [, file, line, column] = FRAME.exec(frame.trim()) ?? [];
    if (file !== undefined && own.has(file)) return { file, line: Number(line), column: Number(column) };
  }
  return undefined;
}

const MOST_FRAMES = 100;

/** The line of an import in the text of a file; 0 if it is not found. */
export function lineOfImport(source: string, specifier: string): number {
  const lines = source.split("\n");
  return lines.findIndex((line) => line.includes(`"${specifier}"`) || line.includes(`'${specifier}'`)) + 1;
}
