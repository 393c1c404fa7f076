import type { AuthenticationRequest } from "../../http/authentication.js";

/** A token as a request carries it. */
export interface Presented {
  /** The whole value of the header. */
  readonly credentials: string;
  readonly scheme: "Bearer" | "DPoP";
  readonly token: string;
}

const SUPPORTED = /^(?:bearer|dpop)(?: |$)/i;
const CREDENTIALS = /^(bearer|dpop) +([A-Za-z0-9\-._~+/]+=*)$/i;

/** The fault of the place of a token. RFC 6750, 2: a request sends it in one way, once; addresses end up in logs. */
export function misplaced(request: AuthenticationRequest): string | undefined {
  const { path = "" } = request;
  if (path.includes("?") && /[?&]access_token=/.test(path)) {
    return "a token belongs into the Authorization header, not into the address";
  }
  return (request.headerCount?.("authorization") ?? 0) > 1
    ? "the request has more than one Authorization header"
    : undefined;
}

/** Whether the value of an Authorization header has a scheme that is known, whatever follows it. */
export function isSupported(credentials: string): boolean {
  return SUPPORTED.test(credentials);
}

/** Reads the value of an Authorization header; undefined if it is not one token of a known scheme. */
export function presentedIn(credentials: string): Presented | undefined {
  const [, scheme = "", token] = CREDENTIALS.exec(credentials) ?? [];
  if (token === undefined) return undefined;
  return { credentials, scheme: scheme.toLowerCase() === "dpop" ? "DPoP" : "Bearer", token };
}
