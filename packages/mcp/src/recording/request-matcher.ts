import { isObject } from "../jsonrpc/message.js";
import type { RecordedExchange } from "./recorded-exchanges.js";
import { matchesRedacted, REDACTED } from "./redactor.js";

/**
 * Methods that are matched without their parameters. The parameters of a handshake describe the client, but the answer
 * depends only on the server.
 */
const BY_METHOD_ALONE = new Set(["initialize", "server/discover", "ping"]);

/** Exchanges with equal requests. They are returned one after the other, and then the last exchange is repeated. */
interface EqualRequests {
  readonly request: unknown;
  readonly exchanges: RecordedExchange[];
  readonly redacted: boolean;
  used: number;
}

/** Finds the recorded exchange that answers a request. */
export class RequestMatcher {
  readonly #byKey = new Map<string, EqualRequests>();
  readonly #exchanges: readonly RecordedExchange[];

  constructor(exchanges: readonly RecordedExchange[]) {
    this.#exchanges = exchanges;
    for (const exchange of exchanges) {
      // Skips requests that were never answered, and failed requests of `BY_METHOD_ALONE`, such as handshakes that were
      // sent again.
      if (exchange.outcome === undefined || ("error" in exchange.outcome && BY_METHOD_ALONE.has(exchange.method)))
        continue;
      const request = comparable(exchange.method, exchange.params);
      const key = keyOf(exchange.method, request);
      const known = this.#byKey.get(key);
      if (known !== undefined) known.exchanges.push(exchange);
      else this.#byKey.set(key, { request, exchanges: [exchange], redacted: key.includes(REDACTED), used: 0 });
    }
  }

  /** Returns the next exchange for this request. Undefined if the request was not recorded. */
  next(method: string, params: Readonly<Record<string, unknown>>): RecordedExchange | undefined {
    const request = comparable(method, params);
    const found = this.#byKey.get(keyOf(method, request)) ?? this.#findRedacted(method, request);
    if (found === undefined) return undefined;
    const at = Math.min(found.used++, found.exchanges.length - 1);
    return found.exchanges[at];
  }

  /** True if an exchange for this request was recorded. */
  has(method: string, params: Readonly<Record<string, unknown>>): boolean {
    const request = comparable(method, params);
    return (this.#byKey.get(keyOf(method, request)) ?? this.#findRedacted(method, request)) !== undefined;
  }

  /**
   * Returns the recorded request of this method with the most values in common, in one line. Undefined if no request of
   * this method was recorded.
   */
  nearest(method: string, params: Readonly<Record<string, unknown>>): string | undefined {
    const wanted = leavesOf(comparable(method, params));
    let best: { readonly common: number; readonly exchange: RecordedExchange } | undefined;
    for (const exchange of this.#exchanges) {
      if (exchange.method !== method || exchange.outcome === undefined) continue;
      const common = [...leavesOf(comparable(method, exchange.params))].filter((leaf) => wanted.has(leaf)).length;
      if (best === undefined || common > best.common) best = { common, exchange };
    }
    return best && requestLine(method, best.exchange.params);
  }

  #findRedacted(method: string, request: unknown): EqualRequests | undefined {
    for (const [key, repeats] of this.#byKey) {
      if (repeats.redacted && key.startsWith(`${method} `) && matchesRecorded(repeats.request, request)) return repeats;
    }
    return undefined;
  }
}

/**
 * Formats a request as one short line, for messages.
 *
 * @example
 * ```ts
 * import { requestLine } from "@parley/mcp/recording";
 *
 * const line = requestLine("tools/call", { name: "forecast", arguments: { city: "Oslo" } });
 * ```
 */
export function requestLine(method: string, params: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify(comparable(method, params));
  return `${method} ${text.length > 200 ? `${text.slice(0, 199)}…` : text}`;
}

/** Returns the part of a request that determines its answer. */
function comparable(method: string, params: Readonly<Record<string, unknown>>): unknown {
  if (BY_METHOD_ALONE.has(method)) return {};
  const { _meta: _unused, inputResponses, arguments: args, task: _task, ...rest } = params;
  return sorted({
    ...rest,
    ...(isObject(args) && Object.keys(args).length > 0 ? { arguments: args } : {}),
    // People answer questions differently, so only the ids of the answered questions identify a round.
    ...(isObject(inputResponses) ? { inputResponses: Object.keys(inputResponses) } : {}),
  });
}

function keyOf(method: string, request: unknown): string {
  return `${method} ${JSON.stringify(request)}`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]));
}

/** True if redacting a value could have produced the recorded value. */
function matchesRecorded(recorded: unknown, value: unknown): boolean {
  if (recorded === REDACTED) return typeof value === "string" || typeof value === "number";
  if (typeof recorded === "string") return typeof value === "string" && matchesRedacted(recorded, value);
  if (Array.isArray(recorded))
    return (
      Array.isArray(value) &&
      recorded.length === value.length &&
      recorded.every((one, at) => matchesRecorded(one, value[at]))
    );
  if (!isObject(recorded)) return recorded === value;
  const names = Object.keys(recorded);
  if (!isObject(value) || Object.keys(value).length !== names.length) return false;
  return names.every((name) => Object.hasOwn(value, name) && matchesRecorded(recorded[name], value[name]));
}

/** Returns the scalar values inside a value, each with its path. */
function leavesOf(value: unknown, path = "", found = new Set<string>()): Set<string> {
  if (typeof value === "object" && value !== null)
    for (const [name, member] of Object.entries(value)) leavesOf(member, `${path}/${name}`, found);
  else found.add(`${path}=${JSON.stringify(value)}`);
  return found;
}
