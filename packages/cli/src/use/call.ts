import { isDeepStrictEqual } from "node:util";
import { type Client, McpError } from "@parley/mcp";
import type { CallToolResult, ContentBlock, Tool } from "@parley/mcp/protocol";
import type { CallTracer } from "@parley/mcp/telemetry";
import type { CommandRun } from "../commands/command.js";
import { withRequiredPages } from "../questions/required-pages.js";
import { parseJson } from "../questions/typed-value.js";
import { EXIT, type ExitCode } from "../terminal/exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import { showBlock } from "../terminal/terminal-text.js";
import { completeArguments } from "./complete-arguments.js";
import { openServer } from "./open-server.js";
import { parseArguments } from "./parse-arguments.js";
import { printBlock } from "./print-blocks.js";
import { withProgress } from "./progress.js";
import { FileSaver, type SavedFile } from "./saved-files.js";
import { toolArguments } from "./tool-arguments.js";
import { missingName, unknownName, withBuildAdvice } from "./unknown-name.js";

/** `parley call`: calls a tool and prints its result. */
export const call: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const extensions = options.flag("task") ? [(await import("@parley/mcp/tasks")).tasks()] : [];
  const tracer = options.flag("trace") ? await callTracer(terminal) : undefined;
  const check = ([tool]: readonly string[]) => {
    if (tool === undefined) throw missingName("call", "tool", invocation);
  };
  await using server = await openServer(invocation, check, { extensions, tracer });
  const { client, words, signal } = server;
  const [name = "", ...rest] = words;
  const given = await parseArguments(rest, terminal.io);
  const tool = await withBuildAdvice(server, findTool(client, name, signal));
  if (tool.execution?.taskSupport === "required" && !options.flag("task")) {
    throw new McpError("invalid_params", `${name} runs only as a task`, { fix: "Add --task." });
  }
  const args = await completeArguments(toolArguments(given, tool), tool, terminal);
  if (args === undefined) {
    terminal.note("Nothing was called.");
    return EXIT.failed;
  }
  const asker = client.serverInfo?.name ?? "the server";
  const result = await withProgress(invocation, (onProgress) =>
    withRequiredPages(terminal, asker, () => client.callTool(name, args, { signal, onProgress })),
  );
  const saver = new FileSaver(terminal.io, name, { output: options.text("output"), force: options.flag("force") });
  return printResult(terminal, result, saver, options.text("output") !== undefined);
};

/** Prints the layers of each tool call after the call has ended. */
async function callTracer(terminal: Terminal): Promise<CallTracer> {
  const { formatTrace, traceCalls } = await import("@parley/mcp/telemetry");
  return traceCalls((trace) => {
    if (trace.detail.startsWith("tools/call ")) terminal.note(showBlock(formatTrace(trace)));
  });
}

/** Finds a tool by name. Stops reading pages when the tool is found. */
async function findTool(client: Client, name: string, signal: AbortSignal): Promise<Tool> {
  const names: string[] = [];
  for await (const tool of client.tools({ signal })) {
    if (tool.name === name) return tool;
    names.push(tool.name);
  }
  throw unknownName("tool", name, names);
}

function printResult(terminal: Terminal, result: CallToolResult, saver: FileSaver, toFiles: boolean): ExitCode {
  const { content, structuredContent, isError = false } = result;
  if (terminal.json)
    terminal.printJson(toFiles ? { ...result, content: content.map((one) => replaceBytesByFile(one, saver)) } : result);
  else {
    const blocks = content.filter((block) => !repeats(block, structuredContent));
    for (const block of blocks) {
      // The text of a failed tool goes to stderr, because it is not a result and must not be piped to another program.
      if (isError && block.type === "text") terminal.note(showBlock(block.text));
      else printBlock(terminal, block, saver);
    }
    if (structuredContent !== undefined && !wraps(structuredContent, content)) terminal.printJson(structuredContent);
    if (isError && content.length === 0) terminal.note("The tool failed without a message.");
  }
  return isError ? EXIT.failed : EXIT.ok;
}

/** True if the block repeats the structured content as text, as servers do for older clients. */
function repeats(block: ContentBlock, structured: unknown): boolean {
  if (structured === undefined || block.type !== "text") return false;
  const parsed = parseJson(block.text);
  return "value" in parsed && isDeepStrictEqual(parsed.value, structured);
}

/**
 * True if the structured content only wraps the text of the result in a single member. Printing such content would
 * repeat the text.
 */
function wraps(structured: unknown, [only, ...others]: readonly ContentBlock[]): boolean {
  const [value, ...more] = Object.values(structured ?? {}) as unknown[];
  if (only?.type !== "text" || others.length > 0 || value === undefined || more.length > 0) return false;
  return value === only.text || repeats(only, value);
}

/** Returns the block with the path of a saved file instead of its bytes. */
function replaceBytesByFile(block: ContentBlock, saver: FileSaver): object {
  if ("data" in block) {
    const { data, ...rest } = block;
    return { ...rest, ...fileOf(saver.save({ data }, block.mimeType)) };
  }
  if (!("resource" in block && "blob" in block.resource)) return block;
  const { blob, ...rest } = block.resource;
  return { ...block, resource: { ...rest, ...fileOf(saver.save({ blob }, rest.mimeType ?? "")) } };
}

function fileOf({ path, bytes }: SavedFile): { file: string; bytes: number } {
  return { file: path, bytes };
}
