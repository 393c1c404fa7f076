import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { CORE_METHODS } from "../../src/protocol/methods.js";
import { REVISIONS } from "../../src/protocol/revisions.js";
import { SPEC_FOLDER } from "./oracle.js";
import { isWireObject, type WireObject } from "./wire-message.js";

const ENTRY = fileURLToPath(new URL("../../src/protocol.ts", import.meta.url));

/** One member as the revisions have it. */
interface Member {
  /** Revisions whose definition has the member. */
  revisions: number;
  /** Revisions that require it. */
  required: number;
}

interface Definition {
  /** Revisions that have the definition. */
  revisions: number;
  members: Map<string, Member>;
}

/** What 2025-11-25 calls by a name that a newer shape took over, and what is a union of several definitions here. */
const RENAMED: { [revision: string]: { [name: string]: string } } = {
  "2025-11-25": {
    Task: "LegacyTask",
    CreateTaskResult: "LegacyCreateTaskResult",
    GetTaskResult: "LegacyTaskResult",
    CancelTaskResult: "LegacyTaskResult",
  },
};

/** Members that only an extension or another specification adds. */
const ADDED = new Set([
  "SubscriptionFilter.taskIds",
  "RequestMetaObject.traceparent",
  "RequestMetaObject.tracestate",
  "RequestMetaObject.baggage",
]);

/** Members that pass through an open type without a type of their own: the experimental tasks of 2025-11-25. */
const UNTYPED = new Set(["ClientCapabilities.tasks", "ServerCapabilities.tasks"]);

/**
 * Marks that an era puts on a message and takes off again. The types here are free of era, so they are optional everywhere,
 * and `resultType` is a member of every result.
 */
function isMarking(key: string): boolean {
  return key.startsWith("io.modelcontextprotocol/") || ["_meta", "resultType", "ttlMs", "cacheScope"].includes(key);
}

function readDefinitions(): Map<string, Definition> {
  const all = new Map<string, Definition>();
  for (const revision of REVISIONS) {
    const path = join(SPEC_FOLDER, revision, "schema.json");
    if (!existsSync(path)) continue;
    const document: unknown = JSON.parse(readFileSync(path, "utf8"));
    const definitions = isWireObject(document) ? (document.$defs ?? document.definitions) : undefined;
    if (!isWireObject(definitions)) throw new Error(`${path} has no definitions`);
    for (const [name, definition] of Object.entries(definitions)) {
      add(all, RENAMED[revision]?.[name] ?? name, definition);
      // Older revisions write parameters out inside the request; the newest names them.
      const params =
        isWireObject(definition) && isWireObject(definition.properties) ? definition.properties.params : undefined;
      if (isWireObject(params) && params.$ref === undefined) add(all, `${name}Params`, params);
    }
  }
  return all;
}

function add(all: Map<string, Definition>, name: string, definition: unknown): void {
  if (!isWireObject(definition) || !isWireObject(definition.properties)) return;
  const known = all.get(name) ?? { revisions: 0, members: new Map<string, Member>() };
  known.revisions++;
  for (const key of Object.keys(definition.properties)) {
    const member = known.members.get(key) ?? { revisions: 0, required: 0 };
    member.revisions++;
    if (requires(definition, key)) member.required++;
    known.members.set(key, member);
  }
  all.set(name, known);
}

function requires(definition: WireObject, key: string): boolean {
  return Array.isArray(definition.required) && definition.required.includes(key);
}

/** The members of every exported interface, each with whether it is optional. */
function readTypes(): Map<string, Map<string, boolean>> {
  const program = ts.createProgram([ENTRY], {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    lib: ["lib.es2023.d.ts", "lib.webworker.d.ts"],
    types: [],
  });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(ENTRY);
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  const types = new Map<string, Map<string, boolean>>();
  for (const exported of module === undefined ? [] : checker.getExportsOfModule(module)) {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    if ((symbol.flags & ts.SymbolFlags.Interface) === 0) continue;
    const members = checker.getDeclaredTypeOfSymbol(symbol).getProperties();
    types.set(exported.name, new Map(members.map((m) => [m.name, (m.flags & ts.SymbolFlags.Optional) !== 0])));
  }
  return types;
}

/** The methods that the schemas of all revisions name. */
function readMethods(): Set<string> {
  const methods = new Set<string>();
  for (const revision of REVISIONS) {
    const path = join(SPEC_FOLDER, revision, "schema.json");
    if (!existsSync(path)) continue;
    for (const match of readFileSync(path, "utf8").matchAll(/"method": \{\s*"const": "([^"]+)"/g))
      methods.add(match[1] ?? "");
  }
  return methods;
}

describe("the types of the wire, member by member against the five published schemas", () => {
  const definitions = readDefinitions();
  if (definitions.size === 0) console.info("schema types: ../shared/spec is not present, so nothing was compared");
  const types = definitions.size === 0 ? new Map<string, Map<string, boolean>>() : readTypes();
  const shared = [...types].flatMap(([name, members]) => {
    const definition = definitions.get(name);
    return definition === undefined ? [] : [{ name, members, definition }];
  });
  if (shared.length > 0) console.info(`schema types: ${shared.length} interfaces compared`);

  it("have every member that some revision has", () => {
    const missing = shared.flatMap(({ name, members, definition }) =>
      [...definition.members.keys()].filter((key) => !members.has(key)).map((key) => `${name}.${key}`),
    );
    expect(missing.filter((path) => !UNTYPED.has(path))).toEqual([]);
  });

  it("have no member that no revision has", () => {
    const invented = shared.flatMap(({ name, members, definition }) =>
      [...members.keys()]
        .map((key) => [key, `${name}.${key}`] as const)
        .filter(([key, path]) => !definition.members.has(key) && !ADDED.has(path) && !isMarking(key))
        .map(([, path]) => path),
    );
    expect(invented).toEqual([]);
  });

  it("require only what every revision requires", () => {
    const tooStrict = shared.flatMap(({ name, members, definition }) =>
      [...definition.members]
        .filter(([key, member]) => members.get(key) === false && member.required < definition.revisions)
        .map(([key]) => `${name}.${key}`),
    );
    expect(tooStrict).toEqual([]);
  });

  it("require what every revision requires", () => {
    const tooMild = shared.flatMap(({ name, members, definition }) =>
      [...definition.members]
        .filter(
          ([key, member]) => members.get(key) === true && member.required === definition.revisions && !isMarking(key),
        )
        .map(([key]) => `${name}.${key}`),
    );
    expect(tooMild).toEqual([]);
  });

  it("map every method of every revision, and no other but those of the tasks extension", () => {
    const mapped = [...(types.get("Requests")?.keys() ?? []), ...(types.get("Notifications")?.keys() ?? [])];
    const published = definitions.size === 0 ? [] : [...readMethods(), "tasks/update", "notifications/tasks"];
    expect(mapped.sort()).toEqual(published.sort());
    const rows = CORE_METHODS.map((row) => row.method);
    expect(rows.filter((method) => mapped.length > 0 && !mapped.includes(method))).toEqual([]);
  });
});
