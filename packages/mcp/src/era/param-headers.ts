import type { HttpRequestInfo } from "../http/http.js";
import { isObject } from "../jsonrpc/message.js";
import { DATA_KEYWORDS } from "../schema/json-schema/json-schema.js";
import { decodeHeaderValue, encodeHeaderValue, mismatch } from "./header-value.js";

/** An argument that a header repeats. */
export interface ParamHeader {
  /** The path of the argument. */
  path: readonly string[];
  /** The name of the header, for example `mcp-param-region`. */
  header: string;
  /** The declared type of the argument. */
  type: "string" | "integer" | "boolean";
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES = ["string", "integer", "boolean"] as const;

/** The headers that a tool's input schema declares, or the first error in the declaration. */
export type ParamHeaderTable = { headers: readonly ParamHeader[] } | { problem: string };

/**
 * Reads the `x-mcp-header` annotations of an input schema.
 *
 * Spec: Tools, "x-mcp-header", https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header
 */
export function paramHeaderTable(inputSchema: unknown): ParamHeaderTable {
  const headers: ParamHeader[] = [];
  const seen = new Set<string>();
  const atRoot = isObject(inputSchema) && Object.hasOwn(inputSchema, "x-mcp-header");
  if (atRoot) return { problem: "x-mcp-header is allowed on single properties, not on the whole schema" };
  const problem = collect(inputSchema, [], headers, seen);
  return problem === undefined ? { headers } : { problem };
}

function collect(schema: unknown, path: string[], headers: ParamHeader[], seen: Set<string>): string | undefined {
  if (!isObject(schema)) return undefined;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword !== "properties" && !DATA_KEYWORDS.includes(keyword) && mentionsHeader(value, 0)) {
      return `x-mcp-header below "${keyword}" at "${path.join(".")}" is not allowed; use it below "properties" only`;
    }
  }
  const properties = schema["properties"];
  if (!isObject(properties)) return undefined;
  for (const [key, property] of Object.entries(properties)) {
    const at = [...path, key];
    const problem = annotate(property, at, headers, seen) ?? collect(property, at, headers, seen);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function annotate(property: unknown, path: string[], headers: ParamHeader[], seen: Set<string>): string | undefined {
  if (!isObject(property) || !Object.hasOwn(property, "x-mcp-header")) return undefined;
  const name = property["x-mcp-header"];
  const where = `"${path.join(".")}"`;
  if (typeof name !== "string" || !TOKEN.test(name)) return `x-mcp-header of ${where} is not a header name`;
  if (seen.has(name.toLowerCase())) return `x-mcp-header "${name}" of ${where} is used twice`;
  const type = headerType(property["type"]);
  if (type === undefined) return `x-mcp-header of ${where} needs type string, integer or boolean`;
  seen.add(name.toLowerCase());
  headers.push({ path, header: `mcp-param-${name}`, type });
  return undefined;
}

/** The declared type, if it is one allowed type, alone or together with `null`. */
function headerType(declared: unknown): ParamHeader["type"] | undefined {
  const named = Array.isArray(declared) ? declared.filter((type) => type !== "null") : [declared];
  return named.length === 1 ? TYPES.find((type) => type === named[0]) : undefined;
}

function mentionsHeader(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null || depth > 64) return false;
  if (Object.hasOwn(value, "x-mcp-header")) return true;
  return Object.values(value).some((child) => mentionsHeader(child, depth + 1));
}

function argumentAt(args: unknown, path: readonly string[]): unknown {
  let at = args;
  for (const key of path) at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  return at;
}

/** The headers that repeat these arguments. */
export function paramHeaders(table: readonly ParamHeader[], args: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { path, header } of table) {
    const value = argumentAt(args, path);
    if (value === undefined || value === null) continue;
    if (typeof value === "string") headers[header] = encodeHeaderValue(value);
    else if (typeof value === "boolean" || typeof value === "number") headers[header] = String(value);
  }
  return headers;
}

/** Throws `header_mismatch` for a call whose headers do not repeat its arguments. */
export function checkParamHeaders(table: readonly ParamHeader[], args: unknown, http: HttpRequestInfo): void {
  for (const { path, header, type } of table) {
    const value = argumentAt(args, path) ?? undefined;
    const sent = http.header(header.toLowerCase())?.trim();
    if (sent === undefined && value === undefined) continue;
    // An intermediary may have used the header for routing or authorization, so the header and the argument must both
    // be present or both be absent.
    if (sent === undefined || value === undefined) {
      const which = sent === undefined ? "missing although" : "present but";
      throw mismatch(
        `the header ${header} is ${which} the argument "${path.join(".")}" has ${value === undefined ? "no" : "a"} value`,
      );
    }
    const decoded = decodeHeaderValue(sent);
    if (decoded === undefined) throw mismatch(`the header ${header} is neither plain ASCII nor valid Base64`);
    if (!matchesArgument(decoded, value, type))
      throw mismatch(`the header ${header} differs from the argument "${path.join(".")}"`);
  }
}

/** True if a header equals an argument. The type of the argument has not been validated at this point. */
function matchesArgument(decoded: string, value: unknown, type: ParamHeader["type"]): boolean {
  if (typeof value === "object") return false;
  // Integers are compared by value, so that `42.0` in the header equals 42.
  return decoded === String(value) || (type === "integer" && decoded !== "" && Number(decoded) === value);
}
