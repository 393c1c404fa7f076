import { existsSync, statSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { Client } from "@parley/mcp";
import type { Implementation, Prompt } from "@parley/mcp/protocol";
import type { Invocation } from "../commands/command.js";
import { DECLINE_QUESTIONS } from "../target/decline-questions.js";
import { openTarget } from "../target/open-target.js";
import { resolveTarget, type ServerTarget, variablesOf } from "../target/target.js";
import { UsageError } from "../terminal/usage-error.js";
import type { ServerEntry } from "./bundle-server.js";
import { type PublishProject, pathInProject, programFile, textOf } from "./publish-project.js";

/** A prompt in the form of a bundle's manifest. */
interface ListedPrompt {
  readonly name: string;
  readonly description?: string | undefined;
  readonly arguments?: readonly string[] | undefined;
  readonly text: string;
}

/** The offers of a running server. */
export interface RunningServer {
  readonly info?: Implementation | undefined;
  readonly tools: readonly { readonly name: string; readonly description?: string | undefined }[];
  readonly prompts: readonly ListedPrompt[];
  /** True if the server has prompts that are not plain text. */
  readonly hasMorePrompts: boolean;
}

/**
 * Connects to the server of the command line, or to the program of the package, and reads its offers. The entry is
 * undefined if the target is an address or a program without a JavaScript or TypeScript file.
 */
export async function examineServer(
  invocation: Invocation,
  project: PublishProject,
): Promise<{ readonly server: RunningServer; readonly entry?: ServerEntry | undefined }> {
  const isGiven = invocation.words.length > 0 || invocation.program.length > 0;
  const target = isGiven ? (await resolveTarget(invocation))[0] : packageTarget(project, invocation);
  let exportName: string | undefined;
  const onExport = (name: string) => {
    exportName = name;
  };
  await using client = await openTarget(target, invocation, { ...DECLINE_QUESTIONS, onExport });
  const entry =
    target.kind === "module"
      ? { path: target.path, exportName, args: [] }
      : target.kind === "command"
        ? programEntry(target, project.folder)
        : undefined;
  return { server: await readOffers(client), entry: entry ?? binEntry(project) };
}

/** The program of the package, or the module that it exports. */
function packageTarget(project: PublishProject, { options }: Invocation): ServerTarget {
  const { folder, manifest } = project;
  const program = binEntry(project);
  if (program !== undefined) {
    const env = variablesOf(options.many("env"));
    const entry = { command: process.execPath, args: [program.path], env, cwd: folder, inheritEnv: true };
    return { kind: "command", name: relative(folder, program.path), entry };
  }
  const main = textOf(manifest["main"]);
  if (main === undefined) {
    throw new UsageError(
      "package.json has neither `bin` nor `main`",
      "Name the server: a module such as ./server.ts, or a program behind `--`.",
    );
  }
  const path = pathInProject(folder, main, "`main` of package.json");
  return { kind: "module", name: main, path: existingFile(folder, path, "main") };
}

/** The program that `npx` starts. */
function binEntry(project: PublishProject): ServerEntry | undefined {
  const path = programFile(project);
  return path === undefined ? undefined : { path: existingFile(project.folder, path, "bin"), args: [] };
}

function existingFile(folder: string, path: string, member: string): string {
  if (existsSync(path) && statSync(path).isFile()) return path;
  throw new UsageError(
    `\`${member}\` of package.json names ${relative(folder, path)}, which does not exist`,
    "Build the project first, or name the server.",
  );
}

/** Finds the file that a command starts: its first word that is a JavaScript or TypeScript file. */
function programEntry({ entry }: ServerTarget & { kind: "command" }, folder: string): ServerEntry | undefined {
  const words = [entry.command, ...(entry.args ?? [])];
  const at = words.findIndex((word) => {
    const path = resolve(entry.cwd ?? folder, word);
    return /\.[cm]?[jt]s$/.test(word) && statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  });
  const file = words[at];
  return file === undefined ? undefined : { path: resolve(entry.cwd ?? folder, file), args: words.slice(at + 1) };
}

async function readOffers(client: Client): Promise<RunningServer> {
  const { tools, prompts } = client.serverCapabilities;
  const listed = prompts === undefined ? [] : await client.allPrompts();
  const texts: ListedPrompt[] = [];
  for (const prompt of listed) {
    const text = await promptText(client, prompt);
    const { name, description } = prompt;
    const args = (prompt.arguments ?? []).map((argument) => argument.name);
    if (text !== undefined) texts.push({ name, description, ...(args.length === 0 ? {} : { arguments: args }), text });
  }
  return {
    info: client.serverInfo,
    tools: tools === undefined ? [] : await client.allTools(),
    prompts: texts,
    hasMorePrompts: texts.length < listed.length,
  };
}

/**
 * Renders a prompt with `${arguments.name}` in place of every argument. Undefined if the server rejects these values,
 * or if the prompt is not one message of text.
 */
async function promptText(client: Client, prompt: Prompt): Promise<string | undefined> {
  const values = Object.fromEntries((prompt.arguments ?? []).map(({ name }) => [name, `\${arguments.${name}}`]));
  try {
    const { messages } = await client.getPrompt(prompt.name, values);
    const [first, ...others] = messages;
    return others.length === 0 && first?.content.type === "text" ? first.content.text : undefined;
  } catch {
    return undefined;
  }
}
