import { spawn } from "node:child_process";
import { McpError } from "@parley/mcp";
import { type CreateMessageRequestParams, type CreateMessageResult, isSamplingContent } from "@parley/mcp/protocol";
import type { Io } from "../terminal/io.js";
import { UsageError } from "../terminal/usage-error.js";
import { memberOf, parseJson } from "./typed-value.js";

/**
 * Limits of one run. A longer run or a larger output is an error. Only the end of stderr is kept, for the error
 * message.
 */
const MAX_RUN_MS = 10 * 60_000;
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const MAX_STDERR_LENGTH = 500;

/**
 * Answers a sampling request with a program. The program reads the request from stdin as JSON, and prints text or a
 * JSON object with `content`. Throws an `McpError` if the program fails, prints too much or runs too long.
 */
export async function answerByCommand(
  words: readonly string[],
  question: CreateMessageRequestParams,
  { env, cwd }: Pick<Io, "env" | "cwd">,
  signal: AbortSignal,
): Promise<CreateMessageResult> {
  const printed = await runProgram(words, `${JSON.stringify(question)}\n`, { env, cwd }, signal);
  const text = printed.trim();
  const parsed = text.startsWith("{") ? parseJson(text) : { problem: "text" };
  const content = "value" in parsed ? memberOf(parsed.value, "content") : undefined;
  const rest = { role: "assistant", model: words[0] ?? "", stopReason: "endTurn" } as const;
  if (content === undefined) return { ...rest, content: { type: "text", text } };
  if (typeof content === "string") return { ...rest, content: { type: "text", text: content } };
  const blocks: unknown[] = Array.isArray(content) ? content : [content];
  if (!blocks.every(isSamplingContent)) throw failed("printed content that the protocol does not define");
  const whole = "value" in parsed ? parsed.value : undefined;
  const [model, stopReason] = [memberOf(whole, "model"), memberOf(whole, "stopReason")];
  return {
    ...rest,
    content: Array.isArray(content) ? blocks : (blocks[0] ?? { type: "text", text: "" }),
    ...(typeof model === "string" ? { model } : {}),
    ...(typeof stopReason === "string" ? { stopReason } : {}),
  };
}

function runProgram(
  [command = "", ...args]: readonly string[],
  input: string,
  { env, cwd }: Pick<Io, "env" | "cwd">,
  signal: AbortSignal,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: { ...env }, shell: false, signal, killSignal: "SIGKILL" });
    let late = false;
    // Not `AbortSignal.timeout`: Node 20 may garbage-collect such a signal inside `AbortSignal.any`.
    const timer = setTimeout(() => {
      late = true;
      child.kill("SIGKILL");
    }, MAX_RUN_MS);
    const chunks: Buffer[] = [];
    let [bytes, stderr] = [0, ""];
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_OUTPUT_BYTES) return chunks.push(chunk);
      child.kill("SIGKILL");
      return reject(failed(`printed more than ${MAX_OUTPUT_BYTES} bytes`));
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr = (stderr + chunk.toString()).slice(-MAX_STDERR_LENGTH);
    });
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(failed(`failed: ${error.message}`));
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      if (late) reject(failed(`took more than ${MAX_RUN_MS / 60_000} minutes`));
      else if (code === 0) resolve(Buffer.concat(chunks).toString());
      else reject(failed(`ended with exit code ${code}${stderr === "" ? "" : `: ${stderr.trim()}`}`));
    });
    // Ignored, because a program may exit without reading its input.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

function failed(what: string): McpError {
  return new McpError("internal_error", `the program of --sample-with ${what}`, {
    fix: "Run it with a request on stdin to see the failure, and correct it.",
  });
}

/** Splits a command into words as a shell does. Supports quotes, but no other shell syntax. */
export function commandWords(line: string): string[] {
  const words: string[] = [];
  for (const [, word = ""] of line.matchAll(/((?:[^\s"']|"(?:[^"\\]|\\.)*"|'[^']*')+)/g)) {
    words.push(
      word.replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g, (_all, double?: string, single?: string) =>
        double === undefined ? (single ?? "") : double.replace(/\\(["\\])/g, "$1"),
      ),
    );
  }
  const bare = line.replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, "");
  if (words.length > 0 && !/["']/.test(bare)) return words;
  throw new UsageError(
    words.length === 0 ? "--sample-with is empty" : "--sample-with has an unclosed quote",
    "Write a program and its arguments, such as --sample-with 'node answer.mjs'.",
  );
}
