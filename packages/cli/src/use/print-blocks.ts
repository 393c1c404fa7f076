import type { ContentBlock, ResourceContents, SamplingMessageContentBlock } from "@parley/mcp/protocol";
import { show, showBlock } from "../terminal/shown.js";
import type { Terminal } from "../terminal/terminal.js";
import type { FileSaver, SavedFile } from "./saved-files.js";

/** Writes one block of content for people: text as it is, everything else to a file whose path is printed. */
export function printBlock(
  terminal: Terminal,
  block: ContentBlock | SamplingMessageContentBlock,
  saver: FileSaver,
): void {
  const { dim } = terminal.style;
  if (block.type === "text") terminal.print(showBlock(block.text));
  else if (block.type === "image" || block.type === "audio") printSaved(terminal, saver.save(block, block.mimeType));
  else if (block.type === "resource") printContents(terminal, block.resource, saver, true);
  else if (block.type === "resource_link") {
    const about = [block.title ?? block.name, block.mimeType].filter((part) => part !== undefined).join(", ");
    terminal.print(show`${dim("link:")} ${block.uri} ${dim(`(${about})`)}`);
  } else terminal.print(show`${JSON.stringify(block)}`);
}

/** Writes the contents of one resource; `named` puts its address before a text. */
export function printContents(terminal: Terminal, contents: ResourceContents, saver: FileSaver, named: boolean): void {
  if ("text" in contents) {
    if (named) terminal.print(show`${terminal.style.dim(`${contents.uri}:`)}`);
    terminal.print(showBlock(contents.text.replace(/\r?\n$/, "")));
  } else printSaved(terminal, saver.save(contents, contents.mimeType ?? "application/octet-stream"));
}

/** Says where a file is. */
export function printSaved(terminal: Terminal, { path, mimeType, bytes }: SavedFile): void {
  const { dim } = terminal.style;
  terminal.print(show`${dim("saved:")} ${path} ${dim(`(${mimeType}, ${bytes} bytes)`)}`);
}
