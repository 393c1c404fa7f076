import { readFileSync } from "node:fs";
import { Ajv as Draft07, type ErrorObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import { isWireObject, type Sender, type WireObject } from "./wire-message.js";

// The package is CommonJS with an `exports.default`, which Node's loader hands out as a member of the default export.
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default;

/** The definitions of one published `schema.json`, with what can be read off them about methods and errors. */
export interface SchemaDefinitions {
  has(name: string): boolean;
  /** Says what is wrong with a value under a definition. */
  check(name: string, value: unknown): string[];
  /** The definition of a request or notification. */
  nameOfMethod(method: string): string | undefined;
  sendersOf(method: string): ReadonlySet<Sender>;
  /** The definition of an error response that has a code of its own. */
  nameOfError(code: number): string | undefined;
  /** True when a request may be answered with questions. */
  mayAsk(requestName: string): boolean;
}

/** Reads a published schema file. Throws when it is not there. */
export function loadDefinitions(path: string): SchemaDefinitions {
  const document: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (!isWireObject(document)) throw new Error(`${path} is not a JSON object`);
  const section = isWireObject(document.$defs) ? "$defs" : "definitions";
  const definitions = document[section];
  if (!isWireObject(definitions)) throw new Error(`${path} has no definitions`);
  repairNumbers(definitions);
  const check = compiler(document, section);
  const index = indexMethods(definitions);
  const errors = indexErrors(definitions);
  return {
    has: (name) => Object.hasOwn(definitions, name),
    check,
    nameOfMethod: (method) => index.names.get(method),
    sendersOf: (method) => index.senders.get(method) ?? new Set(),
    nameOfError: (code) => errors.get(code),
    mayAsk: (requestName) =>
      JSON.stringify(definitions[`${requestName}ResultResponse`] ?? "").includes("InputRequiredResult"),
  };
}

/**
 * The published files are generated from TypeScript, and where a union holds `number` the generator wrote `integer`, and it
 * lost `null` in `JSONValue`. The TypeScript source rules, so a price of 1.5 is a fine answer to a form.
 */
function repairNumbers(definitions: WireObject): void {
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(visit);
    if (!isWireObject(node)) return;
    const { type } = node;
    if (Array.isArray(type) && type.includes("boolean")) node.type = type.map((t) => (t === "integer" ? "number" : t));
    Object.values(node).forEach(visit);
  };
  visit(definitions);
  const json = definitions.JSONValue;
  if (isWireObject(json) && Array.isArray(json.anyOf)) json.anyOf.push({ type: "null" });
}

function compiler(document: WireObject, section: string): SchemaDefinitions["check"] {
  const options = { strict: false, allErrors: false, validateFormats: true } as const;
  const ajv = String(document.$schema).includes("2020-12") ? new Ajv2020(options) : new Draft07(options);
  addFormats(ajv);
  ajv.addSchema({ ...document, $id: "mcp" });
  return (name, value) => {
    const validate = ajv.getSchema(`mcp#/${section}/${name}`);
    if (validate === undefined) return [`there is no definition ${name}`];
    if (validate(value)) return [];
    return (validate.errors ?? []).slice(0, 4).map((error) => `${name}: ${describe(error)}`);
  };
}

function describe(error: ErrorObject): string {
  const detail = error.keyword === "additionalProperties" ? ` (${JSON.stringify(error.params)})` : "";
  return `${error.instancePath || "the value"} ${error.message ?? error.keyword}${detail}`;
}

interface MethodIndex {
  names: Map<string, string>;
  senders: Map<string, Set<Sender>>;
}

function indexMethods(definitions: WireObject): MethodIndex {
  const names = new Map<string, string>();
  for (const [name, definition] of Object.entries(definitions)) {
    const method = constOf(definition, "method");
    // `ClientNotification` of 2026-07-28 is a union of one, written out; its one member has a definition of its own.
    if (typeof method === "string" && !/^(Client|Server)(Request|Notification)$/.test(name)) names.set(method, name);
  }
  const senders = new Map<string, Set<Sender>>();
  for (const sender of ["client", "server"] as const) {
    const prefix = sender === "client" ? "Client" : "Server";
    for (const union of [`${prefix}Request`, `${prefix}Notification`]) {
      for (const member of membersOf(definitions, definitions[union])) {
        const method = String(constOf(member, "method"));
        senders.set(method, (senders.get(method) ?? new Set()).add(sender));
      }
    }
  }
  return { names, senders };
}

function membersOf(definitions: WireObject, union: unknown): unknown[] {
  if (!isWireObject(union)) return [];
  if (!Array.isArray(union.anyOf)) return [union];
  return union.anyOf.map((member) =>
    isWireObject(member) && typeof member.$ref === "string"
      ? definitions[member.$ref.slice(member.$ref.lastIndexOf("/") + 1)]
      : member,
  );
}

function indexErrors(definitions: WireObject): Map<number, string> {
  const errors = new Map<number, string>();
  for (const [name, definition] of Object.entries(definitions)) {
    const error = propertyOf(definition, "error");
    if (!isWireObject(error) || !Array.isArray(error.allOf)) continue;
    for (const part of error.allOf) {
      const code = constOf(part, "code");
      if (typeof code === "number") errors.set(code, name);
    }
  }
  return errors;
}

function propertyOf(definition: unknown, key: string): unknown {
  if (!isWireObject(definition) || !isWireObject(definition.properties)) return undefined;
  return definition.properties[key];
}

function constOf(definition: unknown, key: string): unknown {
  const property = propertyOf(definition, key);
  return isWireObject(property) ? property.const : undefined;
}
