import { platform } from "#platform";
import type { Client } from "../client/client.js";
import type { ClientMiddleware } from "../client/contract/middleware.js";
import { canonicalJson } from "../encoding/canonical-json.js";
import { isObject } from "../jsonrpc/message.js";
import { McpError } from "../protocol/error.js";
import { OFFER_KINDS } from "../protocol/features/offer-kinds.js";

/** The kinds of definitions that a lock pins. */
export type PinnedKind = "server" | "tool" | "prompt" | "resourceTemplate";

/** One pinned definition. */
export interface PinnedItem {
  /** `sha256-` followed by the SHA-256 of the definition as canonical JSON, in hexadecimal. */
  readonly digest: string;
  /** The pinned definition in canonical form. */
  readonly definition: Readonly<Record<string, unknown>>;
}

/** The offers of one server when it was approved, as `lockOf` returns them. */
export interface ServerLock {
  /** The server's name and its instructions for models. */
  readonly server: PinnedItem;
  /** The tools by name. */
  readonly tools: Readonly<Record<string, PinnedItem>>;
  /** The prompts by name. */
  readonly prompts: Readonly<Record<string, PinnedItem>>;
  /** The resource templates by URI template. */
  readonly resourceTemplates: Readonly<Record<string, PinnedItem>>;
}

/** The locks of several servers, as stored in a file. Read it with `readLock`. */
export interface LockFile {
  /** The version of the format. */
  readonly lockfileVersion: 1;
  /** The locks by the names that the user gave to the servers. */
  readonly servers: Readonly<Record<string, ServerLock>>;
}

/** The kinds that a server lists and a lock pins, by their names in differences. */
export const LISTED_KINDS = {
  tool: { member: "tools", ...OFFER_KINDS.tools },
  prompt: { member: "prompts", ...OFFER_KINDS.prompts },
  resourceTemplate: { member: "resourceTemplates", ...OFFER_KINDS.resourceTemplates },
} as const;

export type ListedKind = keyof typeof LISTED_KINDS;

type Definition = Readonly<Record<string, unknown>>;

/**
 * The pinned members by kind: those that affect what a model or a user sees. `_meta`, icons and versions are not
 * pinned, because changes to them are harmless.
 */
const PINNED_MEMBERS: Readonly<Record<PinnedKind, readonly string[]>> = {
  server: ["name", "instructions"],
  tool: ["name", "title", "description", "inputSchema", "outputSchema", "annotations"],
  prompt: ["name", "title", "description", "arguments"],
  resourceTemplate: ["uriTemplate", "name", "title", "description", "mimeType"],
};

/** Pins a definition. The result does not depend on the order of members or on white space. */
export function pinDefinition(kind: PinnedKind, entry: Definition): PinnedItem {
  const members = PINNED_MEMBERS[kind].flatMap((name): [string, unknown][] => {
    const value = Object.hasOwn(entry, name) ? entry[name] : undefined;
    return value === undefined || value === null ? [] : [[name, canonicalMember(name, value)]];
  });
  // Passes through JSON, so that the pinned definition equals the one that is later read from a file.
  const definition = JSON.parse(canonicalJson(Object.fromEntries(members))) as Definition;
  return { digest: definitionDigest(definition), definition };
}

/** The digest of a canonical definition. */
export function definitionDigest(definition: unknown): string {
  // Hashes JSON, which escapes lone surrogates. UTF-8 alone would encode all of them as the same bytes, so different
  // texts could get the same digest.
  const bytes = platform.sha256(new TextEncoder().encode(canonicalJson(definition)));
  return `sha256-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function canonicalMember(name: string, value: unknown): unknown {
  if (typeof value === "string") return PROSE.has(name) ? plainText(value) : value;
  if (name === "arguments" && Array.isArray(value)) return byName(value);
  return name.endsWith("Schema") ? canonicalSchema(value, 0) : value;
}

/**
 * Normalizes the white space of a text for people and models. Only ASCII white space is normalized, because other
 * characters can hide text.
 */
function plainText(text: string): string {
  return text.replace(/[ \t\r\n]+/g, " ").trim();
}

function byName(list: readonly unknown[]): unknown {
  const args = list.filter(isObject).map((one) => [String(one["name"]), proseOf(one)] as const);
  return Object.fromEntries(args);
}

function proseOf(members: Definition): Definition {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, canonicalMember(name, value)]));
}

const PROSE = new Set(["title", "description", "instructions", "$comment"]);
/** Keywords whose arrays are compared without regard to order. */
const SETS = new Set(["required", "type", "enum", "anyOf", "oneOf", "allOf", "examples"]);
/** Keywords that contain values, not schemas. */
const VALUES = new Set(["const", "default", "enum", "examples"]);
/** Keywords that contain schemas under names chosen by the author. */
const MAPS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
/** Maximum nesting of schemas that is normalized. Deeper parts are pinned unchanged. */
const MAX_DEPTH = 200;

function canonicalSchema(schema: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) return schema;
  if (Array.isArray(schema)) return schema.map((one) => canonicalSchema(one, depth + 1));
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, canonicalKeyword(keyword, value, depth + 1)]),
  );
}

function canonicalKeyword(keyword: string, value: unknown, depth: number): unknown {
  if (typeof value === "string") return PROSE.has(keyword) ? plainText(value) : value;
  if (MAPS.has(keyword) && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, canonicalSchema(one, depth)]));
  }
  const inner = VALUES.has(keyword) ? value : canonicalSchema(value, depth);
  return SETS.has(keyword) && Array.isArray(inner) ? sorted(inner) : inner;
}

function sorted(values: readonly unknown[]): unknown[] {
  const keyed = values.map((value) => [canonicalJson(value), value] as const);
  return keyed.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)).map(([, value]) => value);
}

/** The members of a client that a lock uses. Both typed and untyped clients have them. */
export interface LockableClient
  extends Pick<
    Client,
    | "serverInfo"
    | "instructions"
    | "serverCapabilities"
    | "tools"
    | "prompts"
    | "resourceTemplates"
    | "subscribe"
    | "on"
  > {
  /** Adds middleware, as `Client.use` does. */
  use(...middleware: ClientMiddleware[]): unknown;
}

/**
 * Pins the current offers of a server: its name and instructions, tools, prompts and resource templates. Lists them
 * without the cache. If a lock is enforced on the client, only the definitions that this lock allows are pinned.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/locking-tools.md | Locking tools}
 */
export async function lockOf(client: LockableClient): Promise<ServerLock> {
  const { tools, prompts, resources } = client.serverCapabilities;
  const fresh = { cache: false };
  return {
    server: pinServer(client),
    tools: await pinAll("tool", tools && client.tools(fresh), ({ name }) => name),
    prompts: await pinAll("prompt", prompts && client.prompts(fresh), ({ name }) => name),
    resourceTemplates: await pinAll(
      "resourceTemplate",
      resources && client.resourceTemplates(fresh),
      ({ uriTemplate }) => uriTemplate,
    ),
  };
}

/** Pins the name and instructions of a server. */
export function pinServer({ serverInfo, instructions }: LockableClient): PinnedItem {
  return pinDefinition("server", { name: serverInfo?.name, instructions });
}

async function pinAll<T extends object>(
  kind: PinnedKind,
  list: AsyncIterable<T> | undefined,
  keyOf: (item: T) => string,
): Promise<Record<string, PinnedItem>> {
  const pinned = new Map<string, PinnedItem>();
  try {
    // Safe: members are read by name and may be absent.
    for await (const item of list ?? []) pinned.set(keyOf(item), pinDefinition(kind, item as Record<string, unknown>));
  } catch (error) {
    // A list of prompts or templates that the server does not implement counts as empty, because many servers declare
    // prompts or resources without all of their lists.
    const { kind: failure, remote } = McpError.from(error);
    if (kind === "tool" || !remote || failure !== "method_not_found") throw error;
  }
  return Object.fromEntries([...pinned].sort(([one], [other]) => (one < other ? -1 : 1)));
}
