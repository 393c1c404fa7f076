import { GOOD_BODY, GOOD_HEADERS, type HttpCase, headers } from "./http-case.js";

const INVALID_REQUEST = -32600;
const CAP = 4 * 1024 * 1024;

const WRONG_TYPES = [
  "text/plain",
  "text/plain; a=application/json",
  "text/plain;application/json",
  "text/plain, application/json",
  "application/json, text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=application/json",
  "text/json",
  "application/jsonp",
  "application/json-patch+json",
  "application/vnd.api+json",
  "application",
  "/json",
  "json",
  "application/json; charset=utf-16",
  "application/json; charset=iso-8859-1",
  "application/json; charset=utf-8; charset=utf-16",
  "application/json; charset",
  "application/octet-stream",
  "*/*",
];
const GOOD_TYPES = [
  "application/json",
  "Application/JSON",
  "application/json;charset=utf-8",
  'application/json; charset="UTF-8"',
  "application/json ; charset=utf8",
  "application/json;",
  "application/json; profile=x",
];
const WRONG_ACCEPTS = [
  "text/html",
  "application/json",
  "text/event-stream",
  "application/xml, text/html",
  "application/json;q=0, text/event-stream",
  "application/json, text/event-stream;q=0.0",
  "application/jsonx, text/event-stream",
  "",
];
const GOOD_ACCEPTS = [
  "application/json, text/event-stream",
  "text/event-stream,application/json",
  "*/*",
  "application/*, text/*",
  "text/html, */*;q=0.1",
  "application/json;q=0.9, text/event-stream;q=0.1",
];
const ENCODINGS = ["gzip", "br", "deflate", "zstd", "gzip, identity", "x-gzip", "compress", "nonsense"];
const METHODS = ["PUT", "PATCH", "HEAD", "TRACE", "PROPFIND", "SEARCH", "LOCK", "MKCOL", "REPORT", "PURGE"];

function withHeader(name: string, value: string | undefined, status: number): HttpCase {
  const outcome = status === 200 ? { good: true } : { code: INVALID_REQUEST };
  return {
    category: "framing",
    name: `${name}: ${value ?? "(none)"}`,
    headers: headers({ [name]: value }),
    body: GOOD_BODY,
    status,
    ...outcome,
  };
}

const HEAD = GOOD_HEADERS.map(([name, value]) => `${name}: ${value}`).join("\r\n");

/** A request whose bytes are the point. The reply may come from the HTTP parser itself. */
function raw(name: string, bytes: string, status: number | readonly number[], code: number | null = null): HttpCase {
  return {
    category: "framing",
    name,
    headers: [],
    raw: bytes,
    status,
    code,
    socketOnly: "it is about bytes on a socket",
  };
}

const post = (more: string, body: string) => `POST /mcp HTTP/1.1\r\n${HEAD}\r\n${more}\r\n\r\n${body}`;
const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

const RAW: HttpCase[] = [
  raw(
    "length and chunks together",
    post(`content-length: ${GOOD_BODY.length}\r\ntransfer-encoding: chunked`, chunked(GOOD_BODY)),
    400,
  ),
  raw("two lengths", post(`content-length: ${GOOD_BODY.length}\r\ncontent-length: 5`, GOOD_BODY), 400),
  raw("a length that is no number", post("content-length: many", GOOD_BODY), 400),
  raw("a negative length", post("content-length: -1", GOOD_BODY), 400),
  raw("a length in hexadecimal", post("content-length: 0x10", GOOD_BODY), 400),
  raw("a bad chunk size", post("transfer-encoding: chunked", "zz\r\nhello\r\n0\r\n\r\n"), 400),
  raw("an unknown transfer encoding", post("transfer-encoding: gzip", GOOD_BODY), 400),
  raw("a space before the colon", post("x-a : b\r\ncontent-length: 0", ""), 400),
  raw("a folded header", post("x-a: b\r\n c\r\ncontent-length: 0", ""), [400, 415]),
  raw("a control character in a header", post("x-a: b\u0001c\r\ncontent-length: 0", ""), 400),
  raw("a NUL in a header", post("x-a: b\u0000c\r\ncontent-length: 0", ""), 400),
  raw("no Host at all", `POST /mcp HTTP/1.1\r\ncontent-length: 0\r\n\r\n`, 400),
  raw(
    "an HTTP/1.0 request without Host",
    `POST /mcp HTTP/1.0\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`,
    403,
    INVALID_REQUEST,
  ),
  raw("HTTP/9.9", `POST /mcp HTTP/9.9\r\n${HEAD}\r\n\r\n`, [400, 505]),
  raw("no HTTP version", "POST /mcp\r\n\r\n", [400, 403]),
  raw("garbage", "\u0016\u0003\u0001 hello\r\n\r\n", 400),
  raw("a header of 60 KB", post(`x-a: ${"a".repeat(60_000)}\r\ncontent-length: 0`, ""), 431),
  raw("3,000 headers", post(`${"x-a: b\r\n".repeat(3000)}content-length: 0`, ""), 431),
  raw(
    "a good body in two chunks",
    post("transfer-encoding: chunked", `5\r\n${GOOD_BODY.slice(0, 5)}\r\n${chunked(GOOD_BODY.slice(5))}`),
    200,
    null,
  ),
  raw("1 GB announced", post("content-length: 1073741824", GOOD_BODY), 413, INVALID_REQUEST),
  raw(
    "an upgrade",
    post(`connection: upgrade\r\nupgrade: h2c\r\ncontent-length: ${GOOD_BODY.length}`, GOOD_BODY),
    200,
    null,
  ),
];

const sized = (bytes: number) => `${GOOD_BODY}${" ".repeat(bytes - GOOD_BODY.length)}`;

/** How a body travels: media types, encodings, methods, lengths. HTTP25-08. */
export const FRAMING_CASES: HttpCase[] = [
  withHeader("content-type", undefined, 415),
  ...WRONG_TYPES.map((value) => withHeader("content-type", value, 415)),
  ...GOOD_TYPES.map((value) => withHeader("content-type", value, 200)),
  withHeader("accept", undefined, 200),
  ...WRONG_ACCEPTS.map((value) => withHeader("accept", value, 406)),
  ...GOOD_ACCEPTS.map((value) => withHeader("accept", value, 200)),
  ...ENCODINGS.map((value) => withHeader("content-encoding", value, 415)),
  withHeader("content-encoding", "identity", 200),
  ...METHODS.map(
    (method): HttpCase => ({
      category: "framing",
      name: `the method ${method}`,
      method,
      headers: GOOD_HEADERS,
      status: 405,
      // A reply to HEAD has no body.
      code: method === "HEAD" ? null : INVALID_REQUEST,
      ...(method === "TRACE" ? { socketOnly: "no Request may have this method" } : {}),
    }),
  ),
  {
    category: "framing",
    name: "a body just within the cap",
    headers: GOOD_HEADERS,
    body: sized(CAP),
    status: 200,
    good: true,
  },
  {
    category: "framing",
    name: "a body just above the cap",
    headers: GOOD_HEADERS,
    body: sized(CAP + 1),
    status: 413,
    code: INVALID_REQUEST,
  },
  {
    category: "framing",
    name: "a body of twice the cap",
    headers: GOOD_HEADERS,
    body: sized(2 * CAP),
    status: 413,
    code: INVALID_REQUEST,
  },
  { category: "framing", name: "an empty body", headers: GOOD_HEADERS, body: "", status: 400, code: -32700 },
  {
    category: "framing",
    name: "a preflight without CORS",
    method: "OPTIONS",
    headers: headers({ origin: "http://localhost" }),
    status: 403,
    code: INVALID_REQUEST,
  },
  ...RAW.map((item) => (item.status === 200 ? { ...item, good: true } : item)),
];
