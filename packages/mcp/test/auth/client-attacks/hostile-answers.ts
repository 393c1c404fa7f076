/** A token answer that no client may accept, and what the error must say. */
export interface HostileAnswer {
  readonly name: string;
  readonly body: unknown;
  readonly message: string | RegExp;
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const good = { access_token: "canary-access", token_type: "Bearer" };

/** Hardening 6.2, item 8. */
export const HOSTILE_TOKENS: readonly HostileAnswer[] = [
  { name: "no access_token", body: { token_type: "Bearer" }, message: /access_token/ },
  { name: "an access_token of null", body: { ...good, access_token: null }, message: /access_token/ },
  { name: "an empty access_token", body: { ...good, access_token: "" }, message: /access_token/ },
  { name: "an access_token that is an object", body: { ...good, access_token: {} }, message: /access_token/ },
  {
    name: "a line break in the token, for a second header",
    body: { ...good, access_token: "canary-access\r\nx-admin: 1" },
    message: "contains invalid characters",
  },
  {
    name: "a space in the token",
    body: { ...good, access_token: "canary-access x" },
    message: "contains invalid characters",
  },
  {
    name: "a token beyond ASCII",
    body: { ...good, access_token: "canary-acc\u00e9ss" },
    message: "contains invalid characters",
  },
  { name: "no token_type", body: { access_token: "canary-access" }, message: /token_type/ },
  { name: "a token_type of null", body: { ...good, token_type: null }, message: /token_type/ },
  { name: "an unknown token_type", body: { ...good, token_type: "mac" }, message: /token_type/ },
  { name: "expires_in as a word", body: { ...good, expires_in: "soon" }, message: /expires_in/ },
  { name: "a negative expires_in", body: { ...good, expires_in: -1 }, message: /expires_in/ },
  { name: "a refresh_token that is a number", body: { ...good, refresh_token: 1 }, message: /refresh_token/ },
  { name: "a scope that is a list", body: { ...good, scope: ["a"] }, message: /scope/ },
  { name: "a list", body: [good], message: /issued no token/ },
  { name: "not JSON", body: "canary-access", type: "text/plain", message: /issued no token/ },
  { name: "HTTP 201", body: good, status: 201, message: /issued no token/ },
  { name: "HTTP 500", body: good, status: 500, message: /issued no token/ },
  {
    name: "a challenge",
    body: good,
    status: 401,
    headers: { "www-authenticate": 'Basic realm="canary-access"' },
    message: "HTTP 401, which means invalid_client",
  },
  {
    name: "an error with control characters",
    body: { error: "invalid_grant", error_description: "\u001b[2J\u202eok\nlogged in\u0007" },
    status: 400,
    message: "invalid_grant: \\u001b[2J\\u202eok\\nlogged in\\u0007",
  },
  {
    name: "an error that goes on and on",
    body: { error: "invalid_grant", error_description: "x".repeat(5_000) },
    status: 400,
    message: /x{200,300}$/,
  },
  { name: "an error that is no text", body: { error: { a: 1 } }, status: 400, message: /issued no token/ },
];

/** Answers to a registration. */
export const HOSTILE_REGISTRATIONS: readonly HostileAnswer[] = [
  { name: "no client_id", body: {}, status: 201, message: "HTTP 201: no client_id" },
  { name: "a client_id of null", body: { client_id: null }, status: 201, message: "HTTP 201: no client_id" },
  { name: "an empty client_id", body: { client_id: "" }, status: 201, message: "HTTP 201: no client_id" },
  { name: "a client_id that is a number", body: { client_id: 1 }, status: 201, message: "HTTP 201: no client_id" },
  { name: "not JSON", body: "<html>", status: 201, type: "text/html", message: "HTTP 201: no client_id" },
  {
    name: "a refused redirect address",
    body: { error: "invalid_redirect_uri", error_description: "loopback only\u001b[0m" },
    status: 400,
    message: "HTTP 400: loopback only\\u001b[0m",
  },
  { name: "HTTP 403", body: {}, status: 403, message: "HTTP 403: no client_id" },
  { name: "HTTP 500", body: { client_id: "x" }, status: 500, message: "HTTP 500: no client_id" },
  {
    name: "a redirect elsewhere",
    body: {},
    status: 307,
    headers: { location: "https://evil.example/" },
    message: "redirects a POST, which is never followed",
  },
  {
    name: "a redirect to itself",
    body: {},
    status: 308,
    headers: { location: "/register" },
    message: "redirects a POST, which is never followed",
  },
];
