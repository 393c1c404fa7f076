import type { JsonSchema, JsonSchemaObject } from "../json-schema.js";
import { SchemaError } from "../schema-error.js";
import type { Dialect } from "./dialect.js";
import { DRAFT_2020_12, dialectOf, subschemasOf } from "./dialect.js";
import { joinPointer, splitPointer } from "./json-pointer.js";

/** A schema with an identity of its own: a document, or a part of one that has `$id`. */
export interface Resource {
  readonly uri: string;
  readonly root: JsonSchema;
  readonly dialect: Dialect;
  /** Where the resource stands in its document, for error messages. */
  readonly path: string;
  /** False for a document in which nothing has a name: then only the document itself can be referred to by one. */
  readonly named: boolean;
  readonly anchors: Map<string, Located>;
  readonly dynamicAnchors: Map<string, Located>;
}

/** A schema together with the resource that gives its references their meaning. */
export interface Located {
  readonly schema: JsonSchema;
  readonly resource: Resource;
  readonly path: string;
}

/** All schema resources that one compilation may refer to; nothing is ever fetched. */
export interface Resources {
  /** Resources in the order in which they were found; grows while references lead into further documents. */
  readonly found: readonly Resource[];
  /** The resource that a schema object belongs to. */
  ownerOf(schema: JsonSchemaObject): Resource | undefined;
  /** Follows a reference made inside `from`; throws `unresolved_ref` naming `path`. */
  resolve(reference: string, from: Resource, path: string): Located;
}

// Documents without an absolute $id need some base for relative references between them.
const NAMELESS = "schema:///";

/** Indexes a document; `documents` are further documents, by URI, that its references may lead to. */
export function indexResources(
  root: JsonSchema,
  documents: Readonly<Record<string, unknown>>,
): Resources & { main: Located } {
  const index = new ResourceIndex(documents);
  return Object.assign(index, { main: index.addDocument(root, NAMELESS) });
}

class ResourceIndex implements Resources {
  readonly found: Resource[] = [];
  readonly #byUri = new Map<string, Resource>();
  readonly #owners = new Map<JsonSchemaObject, Resource>();
  readonly #documents = new Map<string, unknown>();

  constructor(documents: Readonly<Record<string, unknown>>) {
    for (const [uri, document] of Object.entries(documents)) this.#documents.set(absolute(uri, NAMELESS), document);
  }

  ownerOf(schema: JsonSchemaObject): Resource | undefined {
    return this.#owners.get(schema);
  }

  addDocument(root: JsonSchema, uri: string): Located {
    const named = holdsNames(root);
    const resource = this.#open(root, uri, { dialect: DRAFT_2020_12, named }, "");
    if (named && isSchemaObject(root)) this.#walk(root, resource, "");
    const owner = this.#ownerOr(root, resource);
    this.#byUri.set(uri, owner);
    return { schema: root, resource: owner, path: "" };
  }

  resolve(reference: string, from: Resource, path: string): Located {
    const hash = reference.indexOf("#");
    const target = hash === -1 ? reference : reference.slice(0, hash);
    const fragment = hash === -1 ? "" : reference.slice(hash + 1);
    const resource = target === "" ? from : this.#byReference(target, from, path);
    const located = this.#inside(resource, decodeFragment(fragment));
    if (located !== undefined) return located;
    throw new SchemaError("unresolved_ref", `"${reference}" at ${path || "/"} leads to no schema.`, { path });
  }

  #byReference(reference: string, from: Resource, path: string): Resource {
    const uri = absolute(reference, from.uri);
    const known = this.#byUri.get(uri);
    if (known !== undefined) return known;
    const document = this.#documents.get(uri);
    if (isSchema(document)) return this.addDocument(document, uri).resource;
    throw new SchemaError(
      "unresolved_ref",
      `"${reference}" at ${path || "/"} refers to a document that is not at hand, and references are never fetched; ` +
        'put it under "$defs", or hand it in by the schema option "schemas".',
      { path },
    );
  }

  #open(root: JsonSchema, uri: string, around: Pick<Resource, "dialect" | "named">, path: string): Resource {
    const $schema = isSchemaObject(root) ? root.$schema : undefined;
    const dialect = dialectOf($schema, around.dialect, path, (meta) => this.#documents.get(meta));
    const { named } = around;
    const resource: Resource = { uri, root, dialect, path, named, anchors: new Map(), dynamicAnchors: new Map() };
    this.#byUri.set(uri, resource);
    this.found.push(resource);
    return resource;
  }

  #ownerOr(schema: JsonSchema, resource: Resource): Resource {
    return (isSchemaObject(schema) && this.#owners.get(schema)) || resource;
  }

  #walk(schema: JsonSchemaObject, around: Resource, path: string): void {
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

  #walkValue(value: unknown, resource: Resource, parent: string, key: string): void {
    if (typeof value !== "object" || value === null) return;
    const path = joinPointer(parent, key);
    if (Array.isArray(value)) value.forEach((item, i) => void this.#walkValue(item, resource, path, String(i)));
    else if (isSchemaObject(value)) this.#walk(value, resource, path);
  }

  /** Reads `$id` and the anchors of a schema; gives the resource that the schema belongs to. */
  #identify(schema: JsonSchemaObject, around: Resource, path: string): Resource {
    // Draft-07: 'All other properties in a "$ref" object MUST be ignored', $id included.
    if (around.dialect.draft === "draft-07" && typeof schema.$ref === "string") return around;
    let resource = around;
    const { $id, $anchor, $dynamicAnchor } = schema;
    const self: (owner: Resource) => Located = (owner) => ({ schema, resource: owner, path });
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

  #inside(resource: Resource, fragment: string): Located | undefined {
    if (fragment === "") return { schema: resource.root, resource, path: resource.path };
    if (!fragment.startsWith("/")) return resource.anchors.get(fragment);
    let value: unknown = resource.root;
    let owner = resource;
    for (const token of splitPointer(fragment)) {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, token)) return undefined;
      value = Object.getOwnPropertyDescriptor(value, token)?.value;
      if (isSchemaObject(value)) owner = this.#owners.get(value) ?? owner;
    }
    if (!isSchema(value)) return undefined;
    const path = resource.path + fragment;
    // A schema under an unknown keyword becomes one by being referred to.
    if (owner.named && isSchemaObject(value) && !this.#owners.has(value)) this.#walk(value, owner, path);
    return { schema: value, resource: this.#ownerOr(value, owner), path };
  }
}

/** Looks for names anywhere; most schemas have none, and need no index. */
function holdsNames(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if ("$id" in value || "$anchor" in value || "$dynamicAnchor" in value) return true;
  for (const key in value) {
    // The key was just found in the value.
    if (holdsNames((value as Readonly<Record<string, unknown>>)[key])) return true;
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
    // A name that is no URL can still be compared with other names.
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
