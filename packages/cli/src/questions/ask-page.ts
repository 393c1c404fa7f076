import { McpError } from "@parley/mcp";
import type { ElicitRequestURLParams, ElicitResult } from "@parley/mcp/protocol";
import type { Terminal } from "../terminal/terminal.js";
import { show } from "../terminal/terminal-text.js";
import { noteQuestion } from "./ask-form.js";
import type { Prompter } from "./prompter.js";

/** Prints the full URL that a server wants the user to visit, and opens it only with consent. */
export async function askPage(
  terminal: Terminal,
  prompter: Prompter,
  question: ElicitRequestURLParams,
  server: string,
): Promise<ElicitResult> {
  noteQuestion(terminal, server, "asks you to open a page:", question.message);
  notePage(terminal, question.url);
  const chosen = await prompter.choose<"open" | "self" | "decline">(show`Open it?`, [
    { value: "decline", label: show`No, decline` },
    { value: "open", label: show`Open it in the browser` },
    { value: "self", label: show`I will open it myself` },
  ]);
  if (chosen === undefined) return { action: "cancel" };
  if (chosen === "decline") return { action: "decline" };
  if (chosen === "open") await openPage(terminal, question.url);
  return { action: "accept" };
}

/** Prints the whole URL and, on its own line, the host, because the host identifies the site that the URL opens. */
export function notePage(terminal: Terminal, url: string): void {
  const { bold } = terminal.noteStyle;
  // The parser converts non-ASCII host names to Punycode, which exposes lookalikes.
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
    terminal.note(show`Could not open the browser: ${reason.message}. Open the address yourself.`);
  }
}
