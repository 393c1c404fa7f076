import type { Client } from "@parley/mcp";
import type { Prompt, Resource, ResourceTemplate, Tool } from "@parley/mcp/protocol";
import { SKILLS_EXTENSION, type Skill, skillsExtension } from "@parley/mcp/skills";
import type { CommandRun } from "../commands/command.js";
import { memberOf } from "../questions/typed-value.js";
import { EXIT } from "../terminal/exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import { show, showIndented, type TerminalText } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { openServer } from "./open-server.js";

/** `parley list`: lists the offers of a server. */
export const list: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  await using server = await openServer(invocation, parseKinds, { extensions: [skillsExtension] });
  const { client, words } = server;
  const asked = parseKinds(words);
  const kinds = asked.length === 0 ? declaredKinds(client) : asked;
  const listing = await listKinds(client, kinds, terminal.io.signal);
  if (terminal.json) terminal.printJson(listing);
  else if (kinds.length === 0) terminal.note("The server offers nothing to list.");
  else printListing(terminal, listing, kinds, options.flag("long"));
  return EXIT.ok;
};

/** One entry of any kind, prepared for display. */
interface Entry {
  readonly name: string;
  /** The column between name and description: arguments, a title or a URI. */
  readonly detail: string;
  readonly description: string;
  /** Details that `--long` adds: text or a schema. */
  readonly more: readonly (readonly [label: string, value: unknown])[];
}

function printListing(terminal: Terminal, listing: OfferLists, kinds: readonly Kind[], long: boolean): void {
  const { bold, dim } = terminal.style;
  kinds.forEach((kind, at) => {
    const entries = entriesOf(kind, listing);
    if (at > 0) terminal.print();
    terminal.print(show`${bold(kind)} ${dim(`(${entries.length})`)}`);
    if (long) for (const entry of entries) printLong(terminal, entry);
    else terminal.printTable(entries.map((entry) => rowOf(terminal, entry)));
  });
}

function rowOf({ style }: Terminal, { name, detail, description }: Entry): TerminalText[] {
  return [show`  ${style.cyan(name)}`, show`${detail}`, show`${style.dim(firstSentence(description))}`];
}

function printLong(terminal: Terminal, { name, detail, description, more }: Entry): void {
  const { cyan, dim } = terminal.style;
  terminal.print(show`  ${cyan(name)}  ${detail}`);
  if (description !== "") terminal.print(showIndented(description, "    "));
  for (const [label, value] of more) {
    if (value === undefined || value === "") continue;
    if (typeof value === "string") terminal.print(show`    ${dim(`${label}:`)} ${value}`);
    else {
      terminal.print(show`    ${dim(`${label}:`)}`);
      terminal.print(showIndented(JSON.stringify(value, undefined, 2), "      "));
    }
  }
  terminal.print();
}

function entriesOf(kind: Kind, { tools, resources, templates, prompts, skills }: OfferLists): readonly Entry[] {
  if (kind === "tools") return (tools ?? []).map(toolEntry);
  if (kind === "prompts") return (prompts ?? []).map(promptEntry);
  if (kind === "skills") {
    return (skills ?? []).map(({ uri, frontmatter, resources: files }) => ({
      name: frontmatter.name,
      detail: uri,
      description: frontmatter.description,
      more: [["files", files]],
    }));
  }
  const addressed =
    kind === "resources"
      ? (resources ?? []).map((one) => ({ ...one, address: one.uri }))
      : (templates ?? []).map((one) => ({ ...one, address: one.uriTemplate }));
  return addressed.map(({ address, name, title, mimeType, description = "" }) => ({
    name: address,
    detail: title ?? name,
    description,
    more: [["type", mimeType]],
  }));
}

function toolEntry({ name, title, description = "", inputSchema, outputSchema, annotations }: Tool): Entry {
  const hints = Object.entries(annotations ?? {}).flatMap(([hint, value]) =>
    typeof value === "boolean" ? [`${hint}=${value}`] : [],
  );
  const more = [
    ["title", title],
    ["hints", hints.join(", ")],
    ["input", inputSchema],
    ["output", outputSchema],
  ] as const;
  return { name, detail: argumentNames(inputSchema), description, more };
}

function promptEntry({ name, title, description = "", arguments: args = [] }: Prompt): Entry {
  const detail = args.map((one) => (one.required === true ? one.name : `${one.name}?`)).join(", ");
  return {
    name,
    detail,
    description,
    more: [
      ["title", title],
      ["arguments", args.length === 0 ? undefined : args],
    ],
  };
}

/** Formats argument names as `a, b?`. A question mark denotes an optional argument. */
function argumentNames(schema: Tool["inputSchema"]): string {
  const required = memberOf(schema, "required");
  const names = Object.keys(schema.properties ?? {});
  return names.map((name) => (Array.isArray(required) && required.includes(name) ? name : `${name}?`)).join(", ");
}

/** The first sentence of a description, on one line. */
function firstSentence(description: string): string {
  const line = description.trim().replace(/\s+/g, " ");
  return /^.*?[.!?](?=\s)/.exec(line.slice(0, 500))?.[0] ?? line.slice(0, 500);
}

/** The kinds of offers, as named on the command line. */
const KINDS = ["tools", "resources", "templates", "prompts", "skills"] as const;
type Kind = (typeof KINDS)[number];

/** The requested lists. A list that was not requested is absent. */
interface OfferLists {
  tools?: readonly Tool[];
  resources?: readonly Resource[];
  templates?: readonly ResourceTemplate[];
  prompts?: readonly Prompt[];
  skills?: readonly Skill[];
}

/** Maximum number of entries listed per kind. Further entries are not read. */
const MAX_ENTRIES = 20_000;

/** Parses the kinds on the command line. Empty if no kind is named. Throws a `UsageError` for an unknown kind. */
function parseKinds(words: readonly string[]): readonly Kind[] {
  return words.map((word) => {
    const kind = KINDS.find((one) => one === word || one === `${word}s`);
    if (kind !== undefined) return kind;
    throw new UsageError(`unknown kind "${word}"`, `Use one of: ${KINDS.join(", ")}.`);
  });
}

/** The kinds that the server declares. */
function declaredKinds({ serverCapabilities }: Client): readonly Kind[] {
  const { tools, resources, prompts, extensions } = serverCapabilities;
  const has: Record<Kind, boolean> = {
    tools: tools !== undefined,
    resources: resources !== undefined,
    templates: resources !== undefined,
    prompts: prompts !== undefined,
    skills: extensions !== undefined && Object.hasOwn(extensions, SKILLS_EXTENSION),
  };
  return KINDS.filter((kind) => has[kind]);
}

/** Lists these kinds in sequence. Skills need a client with `skillsExtension`. */
async function listKinds(client: Client, kinds: readonly Kind[], signal: AbortSignal): Promise<OfferLists> {
  const listing: OfferLists = {};
  for (const kind of KINDS) {
    if (!kinds.includes(kind)) continue;
    if (kind === "tools") listing.tools = await collect(client.tools({ signal }));
    else if (kind === "resources") listing.resources = await collect(client.resources({ signal }));
    else if (kind === "templates") listing.templates = await collect(client.resourceTemplates({ signal }));
    else if (kind === "prompts") listing.prompts = await collect(client.prompts({ signal }));
    else listing.skills = await collect(client.extension(skillsExtension).list({ signal }));
  }
  return listing;
}

async function collect<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const entry of entries) {
    all.push(entry);
    if (all.length >= MAX_ENTRIES) break;
  }
  return all;
}
