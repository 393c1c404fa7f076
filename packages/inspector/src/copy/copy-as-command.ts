import { OFFER_KINDS, printableLine } from "@parley/mcp/protocol";
import { type CopiedRequest, isObject, methodOf, ownParams } from "./copied-request.js";
import { copiedHeaders, urlParts } from "./secret-parts.js";
import { isPasteable, MAX_WORD_BYTES, pasteableJson, shellWord } from "./shell-word.js";

/** A command of `parley`: its name, the arguments after the target, its options, and JSON for the last argument. */
interface ParleyCommand {
  readonly name: string;
  readonly words: readonly string[];
  readonly options?: readonly string[];
  readonly json?: unknown;
}

/** A command, or the reason why there is none. */
type CommandOrReason = ParleyCommand | { readonly lack: string };

/** Arguments of `parley list`, by method. */
const LISTS: Readonly<Record<string, string>> = {
  [OFFER_KINDS.tools.list]: "tools",
  [OFFER_KINDS.resources.list]: "resources",
  [OFFER_KINDS.resourceTemplates.list]: "templates",
  [OFFER_KINDS.prompts.list]: "prompts",
  "skills/list": "skills",
};
/**
 * Maximum length of a method in the comment for a request without a command, in characters. Longer methods are
 * truncated.
 */
const MAX_METHOD_LENGTH = 60;

/**
 * Returns a POSIX shell command that sends the request with `parley`, or a comment with the reason why there is none.
 */
export function copyAsCommand(request: CopiedRequest): string {
  const found = commandOf(request);
  if ("lack" in found) return `# ${found.lack}`;
  const target = targetWords(request);
  if ("lack" in target) return `# ${target.lack}`;
  const { name, words, options = [], json } = found;
  const given = json === undefined ? undefined : pasteableJson(json);
  if (json !== undefined && given === undefined) return "# The arguments are nested too deeply.";
  const hostile = words.find((word) => word.startsWith("-") || !isPasteable(word));
  if (hostile !== undefined) {
    return `# ${words[0] === hostile ? "The name" : "A word"} cannot be written on a command line: it begins with a dash, has control characters or is too long.`;
  }
  const fromStdin = given !== undefined && Buffer.byteLength(given) > MAX_WORD_BYTES;
  const last = given === undefined ? [] : [fromStdin ? "-" : shellWord(given)];
  const line = ["parley", name, ...target.before, ...words.map((word) => shellWord(word)), ...last, ...options];
  if (request.revision !== undefined) line.push("--revision", request.revision);
  line.push(...target.options, ...target.behind);
  return fromStdin ? `${line.join(" ")} <<'JSON'\n${given}\nJSON` : line.join(" ");
}

function commandOf(request: CopiedRequest): CommandOrReason {
  const method = methodOf(request);
  const params = ownParams(request);
  const list = Object.hasOwn(LISTS, method) ? LISTS[method] : undefined;
  if (list !== undefined) return { name: "list", words: [list] };
  switch (method) {
    case "tools/call":
      return named(params, "call", params.task === undefined ? [] : ["--task"]);
    case "prompts/get":
      return named(params, "prompt");
    case "resources/read":
      return about(params, "read");
    case "resources/subscribe":
      return about(params, "subscribe");
    case "completion/complete":
      return completing(params);
    case "ping":
      return { name: "ping", words: [], options: ["--count", "1"] };
    case "initialize":
    case "server/discover":
      return { name: "info", words: [] };
    default:
      return { lack: `parley has no command for ${printableLine(method.slice(0, MAX_METHOD_LENGTH))}.` };
  }
}

function named(
  params: Readonly<Record<string, unknown>>,
  command: string,
  options: readonly string[] = [],
): CommandOrReason {
  const { name, arguments: args } = params;
  if (typeof name !== "string" || name === "") return { lack: "The request has no name." };
  const empty = args === undefined || (isObject(args) && Object.keys(args).length === 0);
  if (!empty && !isObject(args)) return { lack: "The arguments are not an object." };
  return { name: command, words: [name], options, ...(empty ? {} : { json: args }) };
}

function about({ uri }: Readonly<Record<string, unknown>>, command: string): CommandOrReason {
  return typeof uri === "string" && uri !== "" ? { name: command, words: [uri] } : { lack: "The request has no URI." };
}

function completing({ ref, argument, context }: Readonly<Record<string, unknown>>): CommandOrReason {
  const [target, { name, value }] = [isObject(ref) ? ref : {}, isObject(argument) ? argument : {}];
  const what = target.type === "ref/resource" ? target.uri : target.name;
  if (typeof what !== "string" || typeof name !== "string" || typeof value !== "string") {
    return { lack: "The request does not say what to complete." };
  }
  // `parley complete` distinguishes templates from prompts by the form of the name.
  if (/[{}]|:\/\//.test(what) !== (target.type === "ref/resource")) {
    return { lack: "parley would treat this name as one of another kind." };
  }
  const settled = isObject(context) && isObject(context.arguments) ? Object.entries(context.arguments) : [];
  const words = settled.map(([key, text]) => `${key}=${String(text).replace(/^@/, "@@")}`);
  if (settled.some(([key]) => !/^[\w.][\w.-]*$/.test(key))) {
    return { lack: "An argument has a name that cannot be written as name=value." };
  }
  return { name: "complete", words: [what, name, value, ...words] };
}

interface TargetWords {
  readonly before: readonly string[];
  readonly options: readonly string[];
  readonly behind: readonly string[];
}

function targetWords({ target, headers }: CopiedRequest): TargetWords | { readonly lack: string } {
  const { kind, shown, url, command } = target;
  const plain = { before: [], options: [], behind: [] };
  if (kind === "server") return { lack: "The server runs inside the inspected program, so no command can reach it." };
  if (![shown, url ?? "", ...(command ?? [])].every(isPasteable))
    return { lack: "The target has control characters or is too long." };
  if (kind === "url" && url !== undefined && /^https?:/i.test(shown)) {
    const lines = copiedHeaders(headers, "own").map(({ name, value }) => shellWord([`${name}: `, value]));
    return { ...plain, before: [shellWord(urlParts(url))], options: lines.flatMap((line) => ["-H", line]) };
  }
  // The name of a configured server is enough, because the configuration has its headers and variables.
  const isName = !/\s/.test(shown) && shown !== command?.join(" ") && !shown.startsWith("-");
  if (kind === "command" && command !== undefined && !isName) {
    return { ...plain, behind: ["--", ...command.map((word) => shellWord(word))] };
  }
  if (shown.startsWith("-")) return { lack: "The target begins with a dash." };
  if (kind === "file") return { ...plain, behind: ["--", "parley", "replay", shellWord(shown), "--stdio"] };
  return { ...plain, before: [shellWord(shown)] };
}
