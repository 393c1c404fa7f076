import { MODERN_META } from "../../http/modern.js";
import { GOOD_BODY, GOOD_MESSAGE, type HttpCase, headers } from "./http-case.js";

const NAMES = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "__defineGetter__"];
const META = JSON.stringify(MODERN_META);

function call(method: string, params: string): string {
  return `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(method)},"params":${params}}`;
}

/** Names that every JavaScript object answers to are plain data here. */
export const KEY_CASES: HttpCase[] = NAMES.flatMap((name): HttpCase[] => [
  {
    category: "key",
    name: `${name} as method`,
    headers: headers({ "mcp-method": name, "mcp-name": undefined }),
    body: call(name, `{"_meta":${META}}`),
    status: 404,
    code: -32601,
    id: 1,
  },
  {
    category: "key",
    name: `${name} as tool`,
    headers: headers({ "mcp-name": name }),
    body: call("tools/call", `{"name":${JSON.stringify(name)},"_meta":${META}}`),
    status: [200, 400],
    code: -32602,
    id: 1,
  },
  {
    category: "key",
    name: `${name} as id`,
    headers: headers({}),
    body: JSON.stringify({ ...GOOD_MESSAGE, id: name }),
    status: 200,
    good: true,
  },
  {
    category: "key",
    name: `${name} as argument`,
    headers: headers({}),
    body: GOOD_BODY.replace('"arguments":{}', `"arguments":{${JSON.stringify(name)}:{"polluted":true}}`),
    status: 200,
    good: true,
  },
  {
    category: "key",
    name: `${name} as member of the message`,
    headers: headers({}),
    body: GOOD_BODY.replace('{"jsonrpc"', `{${JSON.stringify(name)}:{"polluted":true},"jsonrpc"`),
    status: 200,
    good: true,
  },
  {
    category: "key",
    name: `${name} as member of _meta`,
    headers: headers({}),
    body: GOOD_BODY.replace('"_meta":{', `"_meta":{${JSON.stringify(name)}:{"polluted":true},`),
    status: 200,
    good: true,
  },
]);
