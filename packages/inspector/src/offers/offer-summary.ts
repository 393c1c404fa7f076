import type { Prompt, Resource, ResourceTemplate, Tool } from "@parley/mcp/protocol";
import type { Skill } from "@parley/mcp/skills";
import type { OfferKind } from "../contract/connections.js";
import type { OfferSummary } from "../contract/offers.js";
import { isRecord } from "../engine/read-input.js";

/** The type of the entries of each list. */
export interface Definitions {
  tools: Tool;
  resources: Resource;
  templates: ResourceTemplate;
  prompts: Prompt;
  skills: Skill;
}

/**
 * Maximum length of a description in a list, in characters. Longer descriptions are truncated. The `offer` action
 * returns the whole description.
 */
const MAX_DESCRIPTION_LENGTH = 300;
/** Maximum length of a title or a mark in a list, in characters. Longer ones are truncated. */
const MAX_TITLE_LENGTH = 120;

type Members = Readonly<Record<string, unknown>>;

/** Returns the identifier of a list entry. */
export function keyOf<K extends OfferKind>(kind: K, definition: Definitions[K]): string {
  const { name, uri, uriTemplate } = membersOf(definition);
  // The client drops entries without a name or URI, so the member is always a string.
  return String(kind === "templates" ? uriTemplate : kind === "resources" || kind === "skills" ? uri : name);
}

/** Returns the summary of a list entry, without findings. */
export function summaryOf<K extends OfferKind>(kind: K, definition: Definitions[K]): Omit<OfferSummary, "findings"> {
  const members = membersOf(definition);
  const described = kind === "skills" ? recordIn(members, "frontmatter") : members;
  // Tools and prompts are identified by their name. For other entries, the name serves as a title.
  const titles = [described["title"], ...(kind === "tools" || kind === "prompts" ? [] : [described["name"]])];
  const title = [...titles, recordIn(members, "annotations")["title"]].find(isText);
  const { description } = described;
  return {
    name: keyOf(kind, definition),
    ...(title === undefined ? {} : { title: cut(title, MAX_TITLE_LENGTH) }),
    ...(isText(description) ? { description: cut(description, MAX_DESCRIPTION_LENGTH) } : {}),
    marks: MARKS[kind](members).map((mark) => cut(mark, MAX_TITLE_LENGTH)),
  };
}

const MARKS: Readonly<Record<OfferKind, (definition: Members) => string[]>> = {
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

function toolMarks(tool: Members): string[] {
  const annotations = recordIn(tool, "annotations");
  const { taskSupport } = recordIn(tool, "execution");
  return [
    ...HINTS.flatMap(([hint, mark]) => (annotations[hint] === true ? [mark] : [])),
    ...(taskSupport === "optional" || taskSupport === "required" ? ["task"] : []),
    ...(hasPage(tool) ? ["app"] : []),
  ];
}

/**
 * True if a tool has a page of its own.
 *
 * Spec: MCP Apps, "Resource Discovery", https://modelcontextprotocol.io/extensions/apps/overview
 */
function hasPage(tool: Members): boolean {
  const meta = recordIn(tool, "_meta");
  const uri = recordIn(meta, "ui")["resourceUri"] ?? meta["ui/resourceUri"];
  return isText(uri) && uri.startsWith("ui://");
}

function mediaMarks({ mimeType, size }: Members): string[] {
  return [...(isText(mimeType) ? [mimeType] : []), ...(typeof size === "number" ? [shownSize(size)] : [])];
}

function skillMarks({ resources }: Members): string[] {
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

function membersOf(definition: object): Members {
  // Safe: the client has validated that the definition is a JSON object. The members are `unknown`, because the client
  // validates only the required members.
  return definition as Members;
}

function recordIn(record: Members, name: string): Members {
  const value = record[name];
  return isRecord(value) ? value : {};
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}
