import { McpError } from "@parley/mcp";
import type { CreateMessageRequestParams, CreateMessageResult, SamplingMessage } from "@parley/mcp/protocol";
import type { Terminal } from "../terminal/terminal.js";
import { show, showIndented } from "../terminal/terminal-text.js";
import { noteQuestion } from "./ask-form.js";
import { clip } from "./form-field.js";
import type { Prompter } from "./prompter.js";

const MAX_TEXT_LENGTH = 4_000;
/** Maximum number of messages to print. If there are more, only the last messages are printed. */
const MAX_MESSAGES = 20;

/** Prints a sampling request and lets the user write the answer. Throws `declined` if the user declines or leaves. */
export async function askModel(
  terminal: Terminal,
  prompter: Prompter,
  question: CreateMessageRequestParams,
  server: string,
): Promise<CreateMessageResult> {
  noteQuestion(terminal, server, "asks a model:", question.systemPrompt ?? "");
  const left = question.messages.length - MAX_MESSAGES;
  if (left > 0) terminal.note(show`  … ${left} earlier messages`);
  for (const message of question.messages.slice(-MAX_MESSAGES)) noteMessage(terminal, message);
  const chosen = await prompter.choose(show`Answer in place of a model?`, [
    { value: true, label: show`Answer` },
    { value: false, label: show`Decline` },
  ]);
  const text = chosen ? await prompter.write(show`Your answer`, undefined, (written) => needed(written)) : undefined;
  if (text === undefined) throw new McpError("declined", "the user declined to answer in place of a model");
  return { role: "assistant", content: { type: "text", text }, model: "human", stopReason: "endTurn" };
}

function needed(written: string): string | undefined {
  return written === "" ? "Enter an answer, or press Escape to cancel." : undefined;
}

function noteMessage(terminal: Terminal, { role, content }: SamplingMessage): void {
  terminal.note(show`  ${terminal.noteStyle.dim(`${role}:`)}`);
  for (const block of Array.isArray(content) ? content : [content]) {
    const text = block.type === "text" ? block.text : `(${block.type})`;
    terminal.note(showIndented(clip(text, MAX_TEXT_LENGTH), "    "));
  }
}
