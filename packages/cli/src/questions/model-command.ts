import { spawn } from "node:child_process";
import { McpError } from "@parley/mcp";
import { type CreateMessageRequestParams, type CreateMessageResult, isSamplingContent } from "@parley/mcp/protocol";
import type { Io } from "../terminal/io.js";
import { UsageError } from "../terminal/usage-error.js";
import { memberOf, parseJson } from "./typed-value.js";

/** How long a model may think, and how much it may say. */
const MAX_RUN_MS = 10 * 60_000;
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const MAX_STDERR_LENGTH = 500;

/**
 * Answers a question to a model by a program: the request goes to its stdin as JSON, and its stdout is the answer, either text or
 * a JSON object with `content`. Throws an `McpError` if the program fails, says too much or takes too long.
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
  if (!blocks.every(isSamplingContent)) throw failed("answered with content that the protocol does not have");
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
    // A timer of its own: Node 20 may collect an `AbortSignal.timeout` that is part of another signal.
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
      return reject(failed(`said more than ${MAX_OUTPUT_BYTES} bytes`));
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
    // A program that does not read its input is free to.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

function failed(what: string): McpError {
  return new McpError("internal_error", `the program of --sample-with ${what}`, {
    fix: "Run it by hand with a request on its stdin, and correct it.",
  });
}

/** The words of a command as a shell would split it, quotes included, without anything else that shells do. */
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
    words.length === 0 ? "--sample-with names no program" : "--sample-with has a quote without its end",
    "Write a program and its arguments, such as --sample-with 'node answer.mjs'.",
  );
}
