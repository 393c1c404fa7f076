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

/** Options that decide which senders are served. They are the same for HTTP, WebSockets and sockets. */
export interface AuthenticationOptions {
  /**
   * Identifies the sender of every HTTP request before its body is read, or of every new connection before its first
   * message is read. Called concurrently. `native` is the object of the runtime: a `Request`, an `IncomingMessage` with
   * data of other middleware, or a `Socket`. If `authenticate` throws or rejects, the sender is refused with 500.
   * Default: no authentication.
   */
  authenticate?:
    | ((request: AuthenticationRequest, native: unknown) => Authentication | Promise<Authentication>)
    | undefined;
  /**
   * Time limit of `authenticate`, in milliseconds. After it, the sender is refused with 503. Default: 30 s, so that a
   * hanging check does not block the server.
   */
  authenticateMs?: number | undefined;
  /**
   * True to serve unauthenticated clients on an address beyond loopback. Otherwise, a server at such an address starts
   * only with authentication. Default: false.
   */
  allowUnauthenticated?: boolean | undefined;
}

/** The options of transports whose clients send headers. */
export interface AuthorizationOptions extends AuthenticationOptions {
  /**
   * Protects the server with access tokens: `resourceServer(…)` of `@parley/mcp/auth`. Use it instead of
   * `authenticate`.
   */
  auth?: ServerAuthorization | undefined;
}

/**
 * Returns the function that decides which senders are served, from `auth` or `authenticate`. Returns undefined if
 * neither is set, and throws if both are.
 */
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
    fix: "Set only one of them. Each decides alone which senders are served.",
  });
}

/** The request as `authenticate` receives it. Its methods work when destructured, as in `({ header }) => …`. */
class SenderRequest implements AuthenticationRequest {
  readonly #request: AuthenticationRequest;

  constructor(request: AuthenticationRequest) {
    this.#request = request;
  }

  get method(): string | undefined {
    return this.#request.method;
  }

  // A getter, because some runtimes parse the whole URL to return its path.
  get path(): string | undefined {
    return this.#request.path;
  }

  get remoteAddress(): string | undefined {
    return this.#request.remoteAddress;
  }

  // The methods are bound on access, because most checks use only one of them.
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

/**
 * Limits the wait for a decision, so that a decision that never comes does not occupy a slot of the server forever.
 */
function decidedWithin(ms: number, decision: PromiseLike<Authentication>, platform: Platform): Promise<Authentication> {
  return new Promise((resolve, reject) => {
    const timer = platform.timer(ms, () => {
      platform.warn(`\`authenticate\` did not decide within ${ms} ms (\`authenticateMs\`), so the sender is refused`);
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
 * Validates the result of `authenticate`, because programs without types may return anything. Throws for a value that
 * is neither a principal nor a refusal: such a value must neither admit a request nor become part of the answer.
 * Reports a refusal to the observers of `endpoint`.
 */
export function readAuthentication(returned: unknown, endpoint?: Endpoint): Principal | AuthenticationRefusal {
  const isAnonymous = returned === undefined || returned === null || returned === false;
  if (isPrincipal(returned)) return returned;
  if (isAnonymous || isRefusal(returned)) {
    const refusal = isAnonymous ? UNIDENTIFIED : returned;
    endpoint?.senderRefused?.(refusal);
    return refusal;
  }
  throw new McpError("misuse", `\`authenticate\` returned ${described(returned)}`, {
    fix: "Return `{ key, … }` for a sender who may be served, else `{ status, message }` with status 400, 401, 403, 429 or 503.",
  });
}

/**
 * True for a value that identifies a sender. Its key must not be missing or empty, because all senders without a key
 * would count as one.
 */
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

/** Describes a value by the names of its members only, because their values may be credentials. */
function described(value: unknown): string {
  if (typeof value !== "object" || value === null) return `a ${typeof value}`;
  if ("key" in value) return "an object whose `key` is not a string, or is empty";
  if ("status" in value && STATUSES.has(value.status)) return "a refusal with headers that cannot be sent";
  return `an object with the members ${Object.keys(value).join(", ") || "(none)"}`;
}
