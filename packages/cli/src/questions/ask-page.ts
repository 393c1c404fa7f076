import { McpError } from "@parley/mcp";
import type { ElicitRequestURLParams, ElicitResult } from "@parley/mcp/protocol";
import type { Terminal } from "../terminal/terminal.js";
import { show } from "../terminal/terminal-text.js";
import { noteQuestion } from "./ask-form.js";
import type { Prompter } from "./prompter.js";

/** Shows the page that a server wants visited, in full, and opens it only if the person agrees. */
export async function askPage(
  terminal: Terminal,
  prompter: Prompter,
  question: ElicitRequestURLParams,
  server: string,
): Promise<ElicitResult> {
  noteQuestion(terminal, server, "wants you to visit a page:", question.message);
  notePage(terminal, question.url);
  const chosen = await prompter.choose<"open" | "self" | "decline">(show`Open it?`, [
    { value: "decline", label: show`No, decline` },
    { value: "open", label: show`Open it in the browser` },
    { value: "self", label: show`I open it myself` },
  ]);
  if (chosen === undefined) return { action: "cancel" };
  if (chosen === "decline") return { action: "decline" };
  if (chosen === "open") await openPage(terminal, question.url);
  return { action: "accept" };
}

/** The whole address and, apart from it, the host: the part that says where it leads. */
export function notePage(terminal: Terminal, url: string): void {
  const { bold } = terminal.noteStyle;
  // As the parser spells it: a name of other letters shows its Punycode.
  const { href, host } = new URL(url);
  terminal.note(show`  address: ${href}`);
  terminal.note(show`  host:    ${bold(host)}`);
}

async function openPage(terminal: Terminal, url: string): Promise<void> {
  const { openInBrowser } = await import("@parley/mcp/login");
  try {
    openInBrowser(url);
  } catch (reason) {
    if (!McpError.is(reason)) throw reason;
    terminal.note(show`It could not be opened: ${reason.message}. Open it yourself.`);
  }
}
