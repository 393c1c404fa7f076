import { isThenable } from "../encoding/maybe-promise.js";
import type {
  Authentication,
  AuthenticationRefusal,
  AuthenticationRequest,
  Principal,
  ServerAuthorization,
} from "../http/authentication.js";
import { areReplyHeaders } from "../http/protocol-headers.js";
import type { Platform } from "../platform/platform.js";
import { McpError } from "../protocol/error.js";
import type { Endpoint } from "./transport.js";

/** Decides who may be served. The same shape for HTTP, WebSockets and sockets. */
export interface AuthenticationOptions {
  /**
   * Identifies the sender of every HTTP request, or of every new connection, before anything else of it is read. `native` is
   * what the runtime calls it: a `Request`, an `IncomingMessage` on which other middleware left something, or a `Socket`.
   * A throw refuses with 500.
   */
  authenticate?:
    | ((request: AuthenticationRequest, native: unknown) => Authentication | Promise<Authentication>)
    | undefined;
  /** How long `authenticate` may take, in milliseconds; default 30 s. Then the sender is refused with 503. */
  authenticateMs?: number | undefined;
  /** Serves everybody on an address beyond loopback. Without this and without `authenticate` such a server does not start. */
  allowUnauthenticated?: boolean | undefined;
}

/** The same for transports whose clients send headers. */
export interface AuthorizationOptions extends AuthenticationOptions {
  /** Protects the server by access tokens: `resourceServer(…)` of `@parley/mcp/auth`, in place of `authenticate`. */
  auth?: ServerAuthorization | undefined;
}

/** What decides who may be served: one of the two options, or neither. Throws if both are set. */
export function authenticationOf(
  options: AuthorizationOptions,
  platform: Platform,
): AuthenticationOptions["authenticate"] {
  const { auth, authenticate, authenticateMs = 30_000 } = options;
  if (auth === undefined && authenticate === undefined) return undefined;
  if (auth === undefined || authenticate === undefined) {
    const ask = authenticate?.bind(options);
    return (request, native) => {
      const decision =
        ask === undefined ? auth?.authenticate(request, native) : ask(new SenderRequest(request), native);
      return isThenable(decision) ? decidedWithin(authenticateMs, decision, platform) : decision;
    };
  }
  throw new McpError("invalid_definition", "both `auth` and `authenticate` are set", {
    fix: "Set one of them: each decides alone who may be served.",
  });
}

/** A request as `authenticate` gets it: its functions can be taken out of it, as by `({ header }) => …`. */
class SenderRequest implements AuthenticationRequest {
  readonly #request: AuthenticationRequest;

  constructor(request: AuthenticationRequest) {
    this.#request = request;
  }

  get method(): string | undefined {
    return this.#request.method;
  }

  // Some runtimes parse the whole address for it.
  get path(): string | undefined {
    return this.#request.path;
  }

  get remoteAddress(): string | undefined {
    return this.#request.remoteAddress;
  }

  // Bound when read, because most checks read one of them.
  get header(): AuthenticationRequest["header"] {
    return this.#request.header.bind(this.#request);
  }

  get headerCount(): AuthenticationRequest["headerCount"] {
    return this.#request.headerCount?.bind(this.#request);
  }

  get headers(): AuthenticationRequest["headers"] {
    return this.#request.headers.bind(this.#request);
  }
}

/** A decision that never comes must not hold a place of the server for ever. */
function decidedWithin(ms: number, decision: PromiseLike<Authentication>, platform: Platform): Promise<Authentication> {
  return new Promise((resolve, reject) => {
    const timer = platform.timer(ms, () => {
      platform.warn(`\`authenticate\` did not decide within ${ms} ms: the sender is refused (\`authenticateMs\`)`);
      resolve({ status: 503, headers: { "retry-after": "5" }, message: "the sender could not be identified in time" });
    });
    const settled = () => timer.cancel();
    decision.then(resolve, reject);
    decision.then(settled, settled);
  });
}

const UNIDENTIFIED: AuthenticationRefusal = { status: 401, message: "the sender is not authenticated" };
const STATUSES: ReadonlySet<unknown> = new Set([400, 401, 403, 429, 503]);

/**
 * Reads what `authenticate` returned; programs without types may return anything. Throws for what is neither a principal nor
 * a refusal: such a value must neither let a request through nor become part of the answer. Observers of `endpoint` are told of
 * a refusal.
 */
export function readAuthentication(returned: unknown, endpoint?: Endpoint): Principal | AuthenticationRefusal {
  const isNobody = returned === undefined || returned === null || returned === false;
  if (isPrincipal(returned)) return returned;
  if (isNobody || isRefusal(returned)) {
    const refusal = isNobody ? UNIDENTIFIED : returned;
    endpoint?.senderRefused?.(refusal);
    return refusal;
  }
  throw new McpError("misuse", `\`authenticate\` returned ${shown(returned)}`, {
    fix: "Return `{ key, … }` for a sender who may be served, else `{ status, message }` with status 400, 401, 403, 429 or 503.",
  });
}

/** True for what identifies a sender. A key that is missing or empty would make one sender of all who lack it. */
export function isPrincipal(identity: object): identity is Principal;
export function isPrincipal(identity: unknown): identity is Principal;
export function isPrincipal(identity: unknown): identity is Principal {
  if (typeof identity !== "object" || identity === null || !("key" in identity)) return false;
  return typeof identity.key === "string" && identity.key !== "";
}

function isRefusal(value: unknown): value is AuthenticationRefusal {
  if (typeof value !== "object" || value === null || !("status" in value) || !STATUSES.has(value.status)) return false;
  const headers = "headers" in value ? value.headers : undefined;
  return headers === undefined || areReplyHeaders(headers);
}

/** Names of members only: their values may be credentials. */
function shown(value: unknown): string {
  if (typeof value !== "object" || value === null) return `a ${typeof value}`;
  if ("key" in value) return "an object whose `key` is not a text, or is empty";
  if ("status" in value && STATUSES.has(value.status)) return "a refusal with headers that cannot be sent";
  return `an object with the members ${Object.keys(value).join(", ") || "(none)"}`;
}
