import { MODERN_META } from "../../http/modern.js";
import { GOOD_BODY, GOOD_MESSAGE, type HttpCase, headers } from "./http-case.js";

const MISMATCH = -32020;
const UNSUPPORTED = -32022;

type Change = Record<string, string | readonly string[] | undefined>;

function refused(name: string, change: Change, code = MISMATCH, body = GOOD_BODY): HttpCase {
  return { category: "header", name, headers: headers(change), body, status: 400, code, id: 1 };
}

function taken(name: string, change: Change, body = GOOD_BODY): HttpCase {
  return { category: "header", name, headers: headers(change), body, status: 200, good: true };
}

const versioned = (version: string) =>
  JSON.stringify({
    ...GOOD_MESSAGE,
    params: { ...GOOD_MESSAGE.params, _meta: { ...MODERN_META, "io.modelcontextprotocol/protocolVersion": version } },
  });

const base64 = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`;

const WRONG_METHODS = [
  "",
  "TOOLS/CALL",
  "Tools/Call",
  "tools/cal",
  "tools/call/",
  "tools",
  "tools/list",
  "tools%2Fcall",
  "tools/call,tools/call",
];
const WRONG_NAMES = [
  "",
  "Count",
  "COUNT",
  "coun",
  "count2",
  '"count"',
  "c%6Funt",
  "count,count",
  "=?base64?",
  "count?=",
];
const BAD_BASE64 = [
  "=?base64?Y291bnQ?=",
  "=?base64?Y291bn!=?=",
  "=?base64?*?=",
  "=?base64?Y29 1bnQ=?=",
  "=?BASE64?Y291bnQ=?=",
  "=?Base64?Y291bnQ=?=",
];
const WRONG_VERSIONS = ["2025-11-25", "2026-07-27", "v999", "", "2026-07-28.", "2026-7-28"];

/** The headers that repeat the body in the newest revision: HTTP26-20 to HTTP26-30. */
export const HEADER_CASES: HttpCase[] = [
  refused("no version header", { "mcp-protocol-version": undefined }),
  refused("no method header", { "mcp-method": undefined }),
  refused("no name header", { "mcp-name": undefined }),
  refused("none of the three", { "mcp-protocol-version": undefined, "mcp-method": undefined, "mcp-name": undefined }),
  ...WRONG_METHODS.map((value) => refused(`method header ${JSON.stringify(value)}`, { "mcp-method": value })),
  refused("two method headers", { "mcp-method": ["tools/call", "tools/list"] }),
  ...WRONG_NAMES.map((value) => refused(`name header ${JSON.stringify(value)}`, { "mcp-name": value })),
  refused("two name headers", { "mcp-name": ["count", "other"] }),
  refused("the same name header twice", { "mcp-name": ["count", "count"] }),
  ...BAD_BASE64.map((value) => refused(`name header ${value}`, { "mcp-name": value })),
  refused("the Base64 of another name", { "mcp-name": base64("other") }),
  ...WRONG_VERSIONS.map((value) =>
    refused(`version header ${JSON.stringify(value)}`, { "mcp-protocol-version": value }),
  ),
  refused("two version headers", { "mcp-protocol-version": ["2026-07-28", "2025-11-25"] }),
  refused("a good header and a bad body version", {}, MISMATCH, versioned("v999")),
  ...["v999", "2027-01-01", "1900-01-01", "2025-11-25", "draft"].map((version) =>
    refused(`version ${version} in both places`, { "mcp-protocol-version": version }, UNSUPPORTED, versioned(version)),
  ),
  taken("the name in Base64", { "mcp-name": base64("count") }),
  taken("spaces around values", {
    "mcp-name": "  count  ",
    "mcp-method": " tools/call ",
    "mcp-protocol-version": " 2026-07-28 ",
  }),
  taken("a session id that means nothing here", { "mcp-session-id": "stray" }),
  taken("an event id that means nothing here", { "last-event-id": "stray" }),
  taken("a parameter header that no tool has", { "mcp-param-whatever": "x" }),
];
