import { MODERN_META } from "../../http/modern.js";
import { bodyCase, GOOD_BODY, GOOD_HEADERS, GOOD_MESSAGE, type HttpCase } from "./http-case.js";

const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;

const without = (key: string) => Object.fromEntries(Object.entries(GOOD_MESSAGE).filter(([name]) => name !== key));

function json(name: string, value: unknown, code = INVALID_REQUEST): HttpCase {
  return bodyCase("envelope", name, JSON.stringify(value), code);
}

const VERSIONS = [undefined, null, 2, 2.0, "1.0", "2", "2.00", "", " 2.0", "2.0 ", true, {}, ["2.0"]];
const IDS = [null, 1.5, -0.1, true, false, {}, { id: 1 }, [], [1]];
const METHODS = [null, 1, true, {}, [], ["tools/call"]];
const PARAMS = [null, 1, "x", true, [], [1], [{ name: "count" }]];

/** Only the exact names count, whatever a lenient parser would fold together. */
const LOOKALIKES: [string, string][] = [
  ["method", "Method"],
  ["method", "METHOD"],
  ["method", "method\u0000"],
  ["method", "\u0000method"],
  ["method", "met\u0000hod"],
  ["method", " method"],
  ["method", "method "],
  ["method", "ｍethod"],
  ["method", "methоd"],
  ["jsonrpc", "Jsonrpc"],
  ["jsonrpc", "JSONRPC"],
  ["jsonrpc", "jsonrpc\u0000"],
  ["jsonrpc", "json-rpc"],
  ["jsonrpc", "ｊsonrpc"],
  ["jsonrpc", "ſonrpc"],
];

function lookalikes(): HttpCase[] {
  return LOOKALIKES.map(([key, other]) =>
    json(`${JSON.stringify(other)} in place of ${key}`, { ...without(key), [other]: GOOD_MESSAGE[key as "method"] }),
  );
}

/** Parameters under another name are no parameters. */
const PARAM_LOOKALIKES = ["Params", "PARAMS", "paramſ", "params\u0000", "arguments"].map((other) => ({
  ...json(
    `${JSON.stringify(other)} in place of params`,
    { ...without("params"), [other]: GOOD_MESSAGE.params },
    INVALID_PARAMS,
  ),
  id: 1,
}));

const RESPONSES: [string, unknown][] = [
  ["a result", { jsonrpc: "2.0", id: 1, result: {} }],
  ["an error", { jsonrpc: "2.0", id: 1, error: { code: 1, message: "x" } }],
  ["a result with an error", { jsonrpc: "2.0", id: 1, result: {}, error: { code: 1, message: "x" } }],
  ["neither method nor result nor error", { jsonrpc: "2.0", id: 1 }],
  ["an error without code", { jsonrpc: "2.0", id: 1, error: { message: "x" } }],
  ["an error without message", { jsonrpc: "2.0", id: 1, error: { code: 1 } }],
  ["an error that is text", { jsonrpc: "2.0", id: 1, error: "x" }],
  ["a result without id", { jsonrpc: "2.0", result: {} }],
  ["a result with id null", { jsonrpc: "2.0", id: null, result: {} }],
];

const BATCHES: [string, unknown][] = [
  ["an empty array", []],
  ["an array of one request", [GOOD_MESSAGE]],
  ["an array of two requests", [GOOD_MESSAGE, { ...GOOD_MESSAGE, id: 2 }]],
  ["an array of numbers", [1, 2]],
  ["an array in an array", [[GOOD_MESSAGE]]],
  ["an array of a notification", [{ jsonrpc: "2.0", method: "notifications/x" }]],
  ["an array of a response", [{ jsonrpc: "2.0", id: 1, result: {} }]],
];

function deep(levels: number): string {
  return GOOD_BODY.replace('"arguments":{}', `"arguments":{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`);
}

const wide = (count: number) => GOOD_BODY.replace('"arguments":{}', `"arguments":{"a":[${"0,".repeat(count)}0]}`);

const META_FAULTS: [string, unknown, number][] = [
  ["no _meta", { name: "count" }, INVALID_PARAMS],
  ["_meta null", { name: "count", _meta: null }, INVALID_PARAMS],
  ["_meta text", { name: "count", _meta: "x" }, INVALID_PARAMS],
  ["_meta array", { name: "count", _meta: [] }, INVALID_PARAMS],
  ["_meta empty", { name: "count", _meta: {} }, INVALID_PARAMS],
  [
    "no version",
    { name: "count", _meta: { ...MODERN_META, "io.modelcontextprotocol/protocolVersion": undefined } },
    INVALID_PARAMS,
  ],
  [
    "version a number",
    { name: "count", _meta: { ...MODERN_META, "io.modelcontextprotocol/protocolVersion": 2026 } },
    INVALID_PARAMS,
  ],
  [
    "no capabilities",
    { name: "count", _meta: { ...MODERN_META, "io.modelcontextprotocol/clientCapabilities": undefined } },
    INVALID_PARAMS,
  ],
  [
    "capabilities null",
    { name: "count", _meta: { ...MODERN_META, "io.modelcontextprotocol/clientCapabilities": null } },
    INVALID_PARAMS,
  ],
  [
    "capabilities an array",
    { name: "count", _meta: { ...MODERN_META, "io.modelcontextprotocol/clientCapabilities": [] } },
    INVALID_PARAMS,
  ],
  [
    "capabilities text",
    { name: "count", _meta: { ...MODERN_META, "io.modelcontextprotocol/clientCapabilities": "{}" } },
    INVALID_PARAMS,
  ],
];

/** Valid JSON that is no acceptable message. */
export const ENVELOPE_CASES: HttpCase[] = [
  ...["null", "true", "1", '"tools/call"', "1.5e3"].map((text) =>
    bodyCase("envelope", `the body ${text}`, text, INVALID_REQUEST),
  ),
  ...VERSIONS.map((version) =>
    json(`jsonrpc ${JSON.stringify(version)}`, { ...GOOD_MESSAGE, jsonrpc: version }),
  ).filter(
    // 2.0 and 2 are one number in JavaScript; the other stands for both.
    (_, index) => index !== 3,
  ),
  ...IDS.map((id) => json(`id ${JSON.stringify(id)}`, { ...GOOD_MESSAGE, id })),
  bodyCase("envelope", "an id beyond any number", GOOD_BODY.replace('"id":1', '"id":1e400'), INVALID_REQUEST),
  ...METHODS.map((method) => json(`method ${JSON.stringify(method)}`, { ...GOOD_MESSAGE, method })),
  json("no method", without("method")),
  json("no jsonrpc", without("jsonrpc")),
  ...PARAMS.map((params) => json(`params ${JSON.stringify(params)}`, { ...GOOD_MESSAGE, params }, INVALID_PARAMS)),
  ...lookalikes(),
  ...PARAM_LOOKALIKES,
  ...RESPONSES.map(([name, value]) => json(`${name}, posted`, value)),
  ...BATCHES.map(([name, value]) => json(name, value)),
  ...[200, 10_000, 100_000].map((levels) =>
    bodyCase("envelope", `${levels} levels deep`, deep(levels), INVALID_REQUEST),
  ),
  ...[100_001, 1_000_000].map((count) => bodyCase("envelope", `${count} values`, wide(count), INVALID_REQUEST)),
  ...META_FAULTS.map(([name, params, code]) => ({ ...json(name, { ...GOOD_MESSAGE, params }, code), id: 1 })),
  {
    category: "envelope",
    name: "a notification",
    headers: GOOD_HEADERS,
    body: '{"jsonrpc":"2.0","method":"notifications/x"}',
    status: 202,
    code: null,
  },
  {
    category: "envelope",
    name: "an unknown member",
    headers: GOOD_HEADERS,
    body: JSON.stringify({ ...GOOD_MESSAGE, extra: 1 }),
    status: 200,
    good: true,
  },
];
