import type { HttpCase } from "./http-case.js";

const INVALID_REQUEST = -32600;
const BASE: [string, string][] = [
  ["host", "localhost:3000"],
  ["content-type", "application/json"],
  ["accept", "application/json, text/event-stream"],
];
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const UNKNOWN = "A".repeat(32);

const BAD_IDS = [
  UNKNOWN,
  "x",
  "0",
  "null",
  "undefined",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "../../etc/passwd",
  "%00",
  "a b",
  "a,b",
  "'; drop table sessions; --",
  "=?base64?eA==?=",
  "session/x",
  "http/session/x",
  "s",
  "A".repeat(8000),
];

function session(name: string, method: string, more: [string, string][], status: number, body?: string): HttpCase {
  const shape = { category: "session", name, method, headers: [...BASE, ...more], status, code: INVALID_REQUEST };
  return body === undefined ? shape : { ...shape, body };
}

/** Sessions that do not exist, and what comes without one. HTTP25-31, HTTP25-32, HTTP25-38. */
export const SESSION_CASES: HttpCase[] = [
  ...["POST", "GET", "DELETE"].flatMap((method) => {
    const body = method === "POST" ? PING : undefined;
    return [
      ...BAD_IDS.map((id) =>
        session(`${method} with the session id ${id.slice(0, 40)}`, method, [["mcp-session-id", id]], 404, body),
      ),
      session(
        `${method} with two session ids`,
        method,
        [
          ["mcp-session-id", UNKNOWN],
          ["mcp-session-id", "B"],
        ],
        404,
        body,
      ),
      session(`${method} without a session id`, method, [], 400, body),
    ];
  }),
  session(
    "a notification without a session",
    "POST",
    [],
    400,
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
  ),
  session("an answer without a session", "POST", [], 400, '{"jsonrpc":"2.0","id":1,"result":{}}'),
  session("a batch without a session", "POST", [], 400, `[${PING}]`),
  session("an event id without a session", "GET", [["last-event-id", "s.0"]], 400),
  session(
    "an event id with an unknown session",
    "GET",
    [
      ["last-event-id", "s.0"],
      ["mcp-session-id", UNKNOWN],
    ],
    404,
  ),
];
