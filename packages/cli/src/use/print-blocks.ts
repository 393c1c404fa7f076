import {
  blockContent,
  type ContentBlock,
  type ResourceContents,
  type SamplingMessageContentBlock,
} from "@parley/mcp/protocol";
import type { Terminal } from "../terminal/terminal.js";
import { show, showBlock } from "../terminal/terminal-text.js";
import type { FileSaver, SavedFile } from "./saved-files.js";

/** Prints one content block. Prints text and links. Saves other content to a file, and prints the file's path. */
export function printBlock(
  terminal: Terminal,
  block: ContentBlock | SamplingMessageContentBlock,
  saver: FileSaver,
): void {
  const { dim } = terminal.style;
  const content = blockContent(block);
  if (content.kind === "link") {
    const { title, name, mimeType, uri } = content.link;
    const about = [title ?? name, mimeType].filter((part) => part !== undefined).join(", ");
    terminal.print(show`${dim("link:")} ${uri} ${dim(`(${about})`)}`);
  } else if (content.kind === "unknown") terminal.print(show`${JSON.stringify(block)}`);
  else if ("resource" in block) printContents(terminal, block.resource, saver, true);
  else if (content.kind === "text") terminal.print(showBlock(content.text));
  else printSaved(terminal, saver.save(content, content.mimeType ?? "application/octet-stream"));
}

/** Prints the contents of one resource. If `named` is true, prints the URI above a text. */
export function printContents(terminal: Terminal, contents: ResourceContents, saver: FileSaver, named: boolean): void {
  if ("text" in contents) {
    if (named) terminal.print(show`${terminal.style.dim(`${contents.uri}:`)}`);
    terminal.print(showBlock(contents.text.replace(/\r?\n$/, "")));
  } else printSaved(terminal, saver.save(contents, contents.mimeType ?? "application/octet-stream"));
}

/** Prints the path of a saved file. */
export function printSaved(terminal: Terminal, { path, mimeType, bytes }: SavedFile): void {
  const { dim } = terminal.style;
  terminal.print(show`${dim("saved:")} ${path} ${dim(`(${mimeType}, ${bytes} bytes)`)}`);
}
