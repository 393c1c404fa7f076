import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Io } from "../terminal/io.js";
import { UsageError } from "../terminal/usage-error.js";

/** One `name=value` of a command line. */
export interface NamedArgument {
  readonly name: string;
  readonly text: string;
  /** Written `name:=value`: the value is JSON, whatever the schema wants. */
  readonly json: boolean;
  /** The bytes of a file that was named by `name=@file`. */
  readonly bytes?: Buffer;
}

/** What stands behind the name of a tool or a prompt. */
export interface ParsedArguments {
  /** A whole JSON object, as a word or from stdin. */
  readonly whole: string | undefined;
  readonly named: readonly NamedArgument[];
}

/** What is read of stdin or a file; messages of the library are not longer either. */
const MAX_INPUT_BYTES = 16 * 1024 * 1024;

/** Reads words as `name=value`, `name:=json`, `name=@file`, one JSON object, or `-` for one from stdin. */
export async function parseArguments(words: readonly string[], io: Io): Promise<ParsedArguments> {
  let whole: string | undefined;
  const named: NamedArgument[] = [];
  for (const word of words) {
    const isWhole = word === "-" || word.trimStart().startsWith("{");
    if (isWhole && whole !== undefined) {
      throw new UsageError("the arguments are given as JSON twice", "Give one object, or `-` for one from stdin.");
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
      `"${word.slice(0, 100)}" is no argument`,
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
    throw new UsageError(`there is no file ${file}`, "Check the path, or write @@ for a value that begins with @.");
  }
  if (found.size > MAX_INPUT_BYTES) throw tooLong(file);
  return readFileSync(path);
}

async function stdinText({ stdin, signal }: Io): Promise<string> {
  if (stdin.isTTY === true) {
    throw new UsageError("there is nothing on stdin", "Pipe a JSON object into the command, or write the arguments.");
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
  return new UsageError(`${what} is longer than 16 MiB`, "Give the server an address to read from instead.");
}
