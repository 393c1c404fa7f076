import { bytesOf } from "@parley/mcp";
import type { ResourceContents } from "@parley/mcp/protocol";
import type { CommandRun } from "../commands/command.js";
import { EXIT } from "../terminal/exit-code.js";
import type { Io } from "../terminal/io.js";
import { UsageError } from "../terminal/usage-error.js";
import { openServer } from "./open-server.js";
import { printContents, printSaved } from "./print-blocks.js";
import { withProgress } from "./progress.js";
import { FileSaver } from "./saved-files.js";
import { missingName, withBuildAdvice } from "./unknown-name.js";

/** `parley read`: prints the contents of a resource. */
export const read: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const { io } = terminal;
  const [output, raw] = [options.text("output"), options.flag("raw")];
  if (raw && (terminal.json || output !== undefined)) {
    throw new UsageError("--raw cannot be combined with --json or --output", "Use one of them.");
  }
  if (raw && io.stdout.isTTY === true) {
    throw new UsageError(
      "--raw would let the server write to your terminal",
      "Redirect stdout to a file or a program, or remove --raw.",
    );
  }
  await using server = await openServer(invocation, ([uri]) => {
    if (uri === undefined) throw missingName("read", "resource", invocation);
  });
  const [uri = ""] = server.words;
  const result = await withProgress(invocation, (onProgress) =>
    withBuildAdvice(server, server.client.readResource(uri, { signal: server.signal, onProgress })),
  );
  const saver = new FileSaver(io, nameOf(uri), { output, force: options.flag("force") });
  if (raw) for (const contents of result.contents) await writeRaw(io, bytesIn(contents));
  else if (terminal.json) terminal.printJson(result);
  else if (output !== undefined) {
    for (const contents of result.contents) printSaved(terminal, saver.save(...blobOf(contents)));
  } else {
    const named = result.contents.length > 1;
    for (const contents of result.contents) printContents(terminal, contents, saver, named);
  }
  return EXIT.ok;
};

/** The base name for a file: the last part of the URI. */
function nameOf(uri: string): string {
  return /[^/:]+(?=\/*$)/.exec(uri.slice(-200))?.[0].replace(/\.[A-Za-z0-9]{1,8}$/, "") ?? "resource";
}

function blobOf(contents: ResourceContents): [{ blob: string }, string] {
  const { mimeType } = contents;
  if ("blob" in contents) return [contents, mimeType ?? "application/octet-stream"];
  return [{ blob: Buffer.from(contents.text).toString("base64") }, mimeType ?? "text/plain"];
}

function bytesIn(contents: ResourceContents): Uint8Array {
  return "blob" in contents ? bytesOf(contents) : Buffer.from(contents.text);
}

function writeRaw({ stdout }: Io, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stdout.write(bytes, (error) => (error === null || error === undefined ? resolve() : reject(error)));
  });
}
