import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Io } from "../terminal/io.js";
import { UsageError } from "../terminal/usage-error.js";

/** One `name=value` argument. */
export interface NamedArgument {
  readonly name: string;
  readonly text: string;
  /** True for `name:=value`: the value is JSON, regardless of the schema. */
  readonly json: boolean;
  /** The content of the file in `name=@file`. */
  readonly bytes?: Buffer;
}

/** The arguments after the name of a tool or prompt. */
export interface ParsedArguments {
  /** A JSON object with all arguments, given directly or on stdin. */
  readonly whole: string | undefined;
  readonly named: readonly NamedArgument[];
}

/** Maximum size of stdin and of a file; larger input is rejected. The library has the same limit for messages. */
const MAX_INPUT_BYTES = 16 * 1024 * 1024;

/** Parses `name=value`, `name:=json`, `name=@file`, one JSON object, or `-` for a JSON object on stdin. */
export async function parseArguments(words: readonly string[], io: Io): Promise<ParsedArguments> {
  let whole: string | undefined;
  const named: NamedArgument[] = [];
  for (const word of words) {
    const isWhole = word === "-" || word.trimStart().startsWith("{");
    if (isWhole && whole !== undefined) {
      throw new UsageError(
        "the arguments are given as JSON twice",
        "Use one JSON object, or `-` to read it from stdin.",
      );
    }
    if (word === "-") whole = await stdinText(io);
    else if (isWhole) whole = word;
    else named.push(parseNamedArgument(word, io));
  }
  return { whole, named };
}

function parseNamedArgument(word: string, io: Io): NamedArgument {
  const at = word.indexOf("=");
  const json = word[at - 1] === ":";
  const name = word.slice(0, json ? at - 1 : at);
  if (at < 1 || name === "") {
    throw new UsageError(
      `"${word.slice(0, 100)}" is not an argument`,
      "Write name=value, name:=json, name=@file, one JSON object, or - for stdin.",
    );
  }
  const value = word.slice(at + 1);
  if (value.startsWith("@@")) return { name, text: value.slice(1), json };
  if (!value.startsWith("@")) return { name, text: value, json };
  const bytes = fileBytes(value.slice(1), io);
  return { name, text: bytes.toString(), json, bytes };
}

function fileBytes(file: string, { cwd }: Io): Buffer {
  const path = resolve(cwd, file);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== true) {
    throw new UsageError(
      `the file ${file} does not exist`,
      "Check the path, or write @@ for a value that begins with @.",
    );
  }
  if (found.size > MAX_INPUT_BYTES) throw tooLong(file);
  return readFileSync(path);
}

async function stdinText({ stdin, signal }: Io): Promise<string> {
  if (stdin.isTTY === true) {
    throw new UsageError("`-` needs a JSON object on stdin", "Pipe one into the command, or write the arguments.");
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin.iterator({ destroyOnReturn: false })) {
    signal.throwIfAborted();
    const read = Buffer.from(chunk as Buffer);
    bytes += read.length;
    if (bytes > MAX_INPUT_BYTES) throw tooLong("stdin");
    chunks.push(read);
  }
  return Buffer.concat(chunks).toString();
}

function tooLong(what: string): UsageError {
  return new UsageError(`${what} is larger than 16 MiB`, "Pass the server a URL to read it from instead.");
}
