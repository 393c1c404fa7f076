import { joinPointer, pointedMember, splitPointer } from "./json-pointer.js";
import type { JsonSchema, JsonSchemaObject } from "./json-schema.js";
import { SchemaError } from "./schema-error.js";

/** A schema with its own identity: a document, or a part of a document that has `$id`. */
export interface SchemaResource {
  readonly uri: string;
  readonly root: JsonSchema;
  readonly dialect: Dialect;
  /** JSON pointer to the resource in its document, for error messages. */
  readonly path: string;
  /** False for a document without `$id` and anchors, which needs no index. */
  readonly named: boolean;
  readonly anchors: Map<string, LocatedSchema>;
  readonly dynamicAnchors: Map<string, LocatedSchema>;
}

/** A schema and the resource against which its references are resolved. */
export interface LocatedSchema {
  readonly schema: JsonSchema;
  readonly resource: SchemaResource;
  readonly path: string;
}

/** All schema resources that one compilation may refer to. Resources are never fetched. */
export interface SchemaResources {
  /** Resources in order of discovery. Grows when a reference points into a document that is not indexed yet. */
  readonly all: readonly SchemaResource[];
  /** Returns the resource that a schema object belongs to. Undefined if the document has no `$id` and no anchors. */
  ownerOf(schema: JsonSchemaObject): SchemaResource | undefined;
  /**
   * Resolves a reference in the resource `from`. Throws `unresolved_ref` with `path` if the reference has no target.
   */
  resolve(reference: string, from: SchemaResource, path: string): LocatedSchema;
}

// The base for relative references in documents without an absolute `$id`.
const DEFAULT_BASE_URI = "schema:///";

/** Indexes a document. `documents` contains the other documents, by URI, to which references may point. */
export function indexResources(
  root: JsonSchema,
  documents: Readonly<Record<string, unknown>>,
): SchemaResources & { main: LocatedSchema } {
  const index = new ResourceIndex(documents);
  return Object.assign(index, { main: index.addDocument(root, DEFAULT_BASE_URI) });
}

class ResourceIndex implements SchemaResources {
  readonly all: SchemaResource[] = [];
  readonly #byUri = new Map<string, SchemaResource>();
  readonly #owners = new Map<JsonSchemaObject, SchemaResource>();
  readonly #documents = new Map<string, unknown>();

  constructor(documents: Readonly<Record<string, unknown>>) {
    for (const [uri, document] of Object.entries(documents))
      this.#documents.set(absolute(uri, DEFAULT_BASE_URI), document);
  }

  ownerOf(schema: JsonSchemaObject): SchemaResource | undefined {
    return this.#owners.get(schema);
  }

  addDocument(root: JsonSchema, uri: string): LocatedSchema {
    const named = hasIdentifiers(root);
    const resource = this.#open(root, uri, { dialect: "2020-12", named }, "");
    if (named && isSchemaObject(root)) this.#walk(root, resource, "");
    const owner = this.#ownerOr(root, resource);
    this.#byUri.set(uri, owner);
    return { schema: root, resource: owner, path: "" };
  }

  resolve(reference: string, from: SchemaResource, path: string): LocatedSchema {
    const hash = reference.indexOf("#");
    const target = hash === -1 ? reference : reference.slice(0, hash);
    const fragment = hash === -1 ? "" : reference.slice(hash + 1);
    const resource = target === "" ? from : this.#byReference(target, from, path);
    const located = this.#inside(resource, decodeFragment(fragment));
    if (located !== undefined) return located;
    throw new SchemaError("unresolved_ref", `"${reference}" at ${path || "/"} does not point to a schema.`, { path });
  }

  #byReference(reference: string, from: SchemaResource, path: string): SchemaResource {
    const uri = absolute(reference, from.uri);
    const known = this.#byUri.get(uri);
    if (known !== undefined) return known;
    const document = this.#documents.get(uri);
    if (isSchema(document)) return this.addDocument(document, uri).resource;
    throw new SchemaError(
      "unresolved_ref",
      `"${reference}" at ${path || "/"} points to another document, and references are never fetched`,
      { path },
    );
  }

  #open(
    root: JsonSchema,
    uri: string,
    around: Pick<SchemaResource, "dialect" | "named">,
    path: string,
  ): SchemaResource {
    const $schema = isSchemaObject(root) ? root.$schema : undefined;
    const dialect = dialectOf($schema, around.dialect, path);
    const { named } = around;
    const resource: SchemaResource = { uri, root, dialect, path, named, anchors: new Map(), dynamicAnchors: new Map() };
    this.#byUri.set(uri, resource);
    this.all.push(resource);
    return resource;
  }

  #ownerOr(schema: JsonSchema, resource: SchemaResource): SchemaResource {
    return (isSchemaObject(schema) && this.#owners.get(schema)) || resource;
  }

  #walk(schema: JsonSchemaObject, around: SchemaResource, path: string): void {
    const resource = this.#identify(schema, around, path);
    this.#owners.set(schema, resource);
    for (const [keyword, value] of Object.entries(schema)) {
      if (typeof value !== "object" || value === null) continue;
      const kind = subschemasOf(keyword);
      if (kind === "schemas") this.#walkValue(value, resource, path, keyword);
      else if (kind === "map" && !Array.isArray(value)) {
        const at = joinPointer(path, keyword);
        for (const [name, member] of Object.entries(value)) this.#walkValue(member, resource, at, name);
      }
    }
  }

  #walkValue(value: unknown, resource: SchemaResource, parent: string, key: string): void {
    if (typeof value !== "object" || value === null) return;
    const path = joinPointer(parent, key);
    if (Array.isArray(value)) value.forEach((item, i) => void this.#walkValue(item, resource, path, String(i)));
    else if (isSchemaObject(value)) this.#walk(value, resource, path);
  }

  /** Reads `$id` and the anchors of a schema. Returns the resource that the schema belongs to. */
  #identify(schema: JsonSchemaObject, around: SchemaResource, path: string): SchemaResource {
    // Draft-07: 'All other properties in a "$ref" object MUST be ignored', $id included.
    if (around.dialect === "draft-07" && typeof schema.$ref === "string") return around;
    let resource = around;
    const { $id, $anchor, $dynamicAnchor } = schema;
    const self: (owner: SchemaResource) => LocatedSchema = (owner) => ({ schema, resource: owner, path });
    if (typeof $id === "string" && $id.startsWith("#")) around.anchors.set($id.slice(1), self(around));
    else if (typeof $id === "string") {
      resource = this.#open(schema, absolute($id.replace(/#.*$/, ""), around.uri), around, path);
    }
    if (typeof $anchor === "string") resource.anchors.set($anchor, self(resource));
    if (typeof $dynamicAnchor === "string") {
      resource.anchors.set($dynamicAnchor, self(resource));
      resource.dynamicAnchors.set($dynamicAnchor, self(resource));
    }
    return resource;
  }

  #inside(resource: SchemaResource, fragment: string): LocatedSchema | undefined {
    if (fragment === "") return { schema: resource.root, resource, path: resource.path };
    if (!fragment.startsWith("/")) return resource.anchors.get(fragment);
    let value: unknown = resource.root;
    let owner = resource;
    for (const token of splitPointer(fragment)) {
      value = pointedMember(value, token);
      if (isSchemaObject(value)) owner = this.#owners.get(value) ?? owner;
    }
    if (!isSchema(value)) return undefined;
    const path = resource.path + fragment;
    // A value under an unknown keyword becomes a schema if a reference points to it.
    if (owner.named && isSchemaObject(value) && !this.#owners.has(value)) this.#walk(value, owner, path);
    return { schema: value, resource: this.#ownerOr(value, owner), path };
  }
}

/** True if `$id` or an anchor occurs anywhere in a value. Most schemas have neither and need no index. */
function hasIdentifiers(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if ("$id" in value || "$anchor" in value || "$dynamicAnchor" in value) return true;
  for (const key in value) {
    // Safe: `key` is a member of the value.
    if (hasIdentifiers((value as Readonly<Record<string, unknown>>)[key])) return true;
  }
  return false;
}

export function isSchemaObject(value: unknown): value is JsonSchemaObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "boolean" || isSchemaObject(value);
}

function absolute(reference: string, base: string): string {
  try {
    return new URL(reference, base).href.replace(/#$/, "");
  } catch {
    // An identifier that is not a valid URL is used unchanged, because it can still be equal to another identifier.
    return reference;
  }
}

function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

/** The dialect of a schema resource. */
export type Dialect = "2020-12" | "draft-07";

/**
 * Returns the dialect that `$schema` names.
 *
 * A schema without `$schema` has the dialect of its parent resource. The default for a whole document is 2020-12.
 * Spec: Overview, "JSON Schema Usage", https://modelcontextprotocol.io/specification/2025-11-25/basic#json-schema-usage
 */
function dialectOf($schema: unknown, around: Dialect, path: string): Dialect {
  if ($schema === undefined) return around;
  if (typeof $schema !== "string") throw new SchemaError("invalid_schema", "$schema must be a string.", { path });
  if (/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test($schema)) return "2020-12";
  if (/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test($schema)) return "draft-07";
  throw new SchemaError(
    "dialect_unsupported",
    `JSON Schema dialect not supported: "${$schema}". Use 2020-12 (the default when $schema is absent) or draft-07.`,
    { path },
  );
}

/** The form in which a keyword holds subschemas: `schemas` for one schema or a list, `map` for schemas by name. */
const SUBSCHEMAS: ReadonlyMap<string, "schemas" | "map"> = new Map([
  ...[
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
  ].map((keyword) => [keyword, "schemas"] as const),
  ...["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"].map(
    (keyword) => [keyword, "map"] as const,
  ),
]);

/** Returns the form in which a keyword holds subschemas, or undefined for a keyword without subschemas. */
export function subschemasOf(keyword: string): "schemas" | "map" | undefined {
  return SUBSCHEMAS.get(keyword);
}
