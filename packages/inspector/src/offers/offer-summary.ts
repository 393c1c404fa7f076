import type { Prompt, Resource, ResourceTemplate, Tool } from "@parley/mcp/protocol";
import type { Skill } from "@parley/mcp/skills";
import type { OfferKind } from "../contract/connections.js";
import type { OfferSummary } from "../contract/offers.js";
import { isRecord } from "../engine/read-input.js";

/** What a server lists, by the kind of list. */
export interface Definitions {
  tools: Tool;
  resources: Resource;
  templates: ResourceTemplate;
  prompts: Prompt;
  skills: Skill;
}

/** Characters of a description in a list; `offer` gives it whole. */
const MOST_DESCRIPTION = 300;
/** Characters of a title or a mark in a list. */
const MOST_TITLE = 120;

type Listed = Readonly<Record<string, unknown>>;

/** What identifies an entry of a list. */
export function keyOf<K extends OfferKind>(kind: K, definition: Definitions[K]): string {
  const { name, uri, uriTemplate } = membersOf(definition);
  // The client leaves out what has no name or address.
  return String(kind === "templates" ? uriTemplate : kind === "resources" || kind === "skills" ? uri : name);
}

/** An entry of a list in short, without findings. */
export function summaryOf<K extends OfferKind>(kind: K, definition: Definitions[K]): Omit<OfferSummary, "findings"> {
  const members = membersOf(definition);
  const described = kind === "skills" ? recordIn(members, "frontmatter") : members;
  // The name of a tool or a prompt is shown anyway; that of others stands beside their address.
  const titles = [described["title"], ...(kind === "tools" || kind === "prompts" ? [] : [described["name"]])];
  const title = [...titles, recordIn(members, "annotations")["title"]].find(isText);
  const { description } = described;
  return {
    name: keyOf(kind, definition),
    ...(title === undefined ? {} : { title: cut(title, MOST_TITLE) }),
    ...(isText(description) ? { description: cut(description, MOST_DESCRIPTION) } : {}),
    marks: MARKS[kind](members).map((mark) => cut(mark, MOST_TITLE)),
  };
}

const MARKS: Readonly<Record<OfferKind, (definition: Listed) => string[]>> = {
  tools: toolMarks,
  resources: mediaMarks,
  templates: mediaMarks,
  prompts: ({ arguments: args }) => (Array.isArray(args) && args.length > 0 ? [counted(args.length, "argument")] : []),
  skills: skillMarks,
};

const HINTS = [
  ["readOnlyHint", "read-only"],
  ["destructiveHint", "destructive"],
  ["idempotentHint", "idempotent"],
  ["openWorldHint", "open-world"],
] as const;

function toolMarks(tool: Listed): string[] {
  const annotations = recordIn(tool, "annotations");
  const { taskSupport } = recordIn(tool, "execution");
  return [
    ...HINTS.flatMap(([hint, mark]) => (annotations[hint] === true ? [mark] : [])),
    ...(taskSupport === "optional" || taskSupport === "required" ? ["task"] : []),
    ...(hasPage(tool) ? ["app"] : []),
  ];
}

/**
 * Whether a tool names a page of its own.
 *
 * Spec: MCP Apps, "Resource Discovery", https://modelcontextprotocol.io/extensions/apps/overview
 */
function hasPage(tool: Listed): boolean {
  const meta = recordIn(tool, "_meta");
  const uri = recordIn(meta, "ui")["resourceUri"] ?? meta["ui/resourceUri"];
  return isText(uri) && uri.startsWith("ui://");
}

function mediaMarks({ mimeType, size }: Listed): string[] {
  return [...(isText(mimeType) ? [mimeType] : []), ...(typeof size === "number" ? [shownSize(size)] : [])];
}

function skillMarks({ resources }: Listed): string[] {
  if (!Array.isArray(resources)) return ["dynamic"];
  const sizes = resources.map((file: unknown) => (isRecord(file) ? Number(file["size"]) : 0));
  return [counted(resources.length, "file"), shownSize(sizes.reduce((sum, size) => sum + size, 0))];
}

const UNITS = ["bytes", "KiB", "MiB", "GiB"] as const;

function shownSize(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${UNITS[power]}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function membersOf(definition: object): Listed {
  // The client has checked that it is an object of JSON; of its members only those are typed that the protocol requires.
  return definition as Listed;
}

function recordIn(record: Listed, name: string): Listed {
  const value = record[name];
  return isRecord(value) ? value : {};
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}
