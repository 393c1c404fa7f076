import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { scanEnvelope } from "./envelope.js";
import { parseMessage } from "./message.js";

const refused = (text: string) => {
  const item = parseMessage(text);
  return item.kind === "invalid" ? item.reason : undefined;
};

describe("a member of the envelope that is there twice", () => {
  const LONG = "a".repeat(2000);
  const TWICE = [
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{},"method":"b"}',
    '{"jsonrpc":"2.0","id":1,"method":"a","method":"b","params":{}}',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1},"params":{"x":2}}',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{},"param\\u0073":{}}',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params" :{}}',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{},"id":2,"x":{}}',
    '{"jsonrpc":"2.0","id":1,"m\\u0065thod":"a","method":"b"}',
    '{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"a"}',
    '{"jsonrpc":"2.0","id":1,"id":1,"method":"a"}',
    '{"jsonrpc":"2.0","id":7,"id":1e9,"method":"a"}',
    '{"jsonrpc":"2.0","id":1,"result":{},"result":{}}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a"},"error":{"code":2,"message":"b"}}',
    '{"jsonrpc":"2.0","id":1,"id":2,"method":"a","params":{"n":1e9,"m":9e300}}',
    '{"method":"a","params":{"n":[1e9,1e9]},"jsonrpc":"2.0","id":1,"id":2}',
    '{"result":{"n":1e9},"jsonrpc":"2.0","id":1,"result":{"n":1e9}}',
    '[{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}]',
    '[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"id":3,"method":"a"}]',
  ];
  it.each(TWICE)("is refused: %s", (text) => {
    expect(refused(text)).toMatch(/^the member `\w+` occurs twice$/);
    expect(refused(` ${text.replaceAll(",", " , ")}\t`)).toMatch(/occurs twice$/);
    expect(refused(text.replace("{", `{"x":"${LONG}",`))).toMatch(/occurs twice$/);
  });

  const ONCE = [
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{"method":"b","id":2,"params":{"params":{}}}}',
    '{"method":"a","params":{"id":1,"jsonrpc":"1"},"jsonrpc":"2.0","id":1}',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":"\\"method\\":\\"b\\""},"x":1}',
    '{"jsonrpc":"2.0","id":1000,"method":"a","params":{"x":{},"x":{}}}',
    '{"jsonrpc":"2.0","id":-1,"method":"tools\\/call"}',
    '{"jsonrpc":"2.0","id":"\\"id\\":","result":{"id":1}}',
  ];
  it.each(ONCE)("is not seen where there is none: %s", (text) => {
    expect(refused(text)).toBeUndefined();
    expect(refused(text.replace("{", `{"x":"${LONG}",`))).toBeUndefined();
  });

  it("is found in any message, and only there", () => {
    const value = fc.jsonValue({ maxDepth: 2 });
    const object = fc.dictionary(fc.constantFrom("a", "id", "params", "method", "result"), value, { maxKeys: 3 });
    const member = fc.oneof(
      fc.tuple(fc.constant("id"), fc.oneof(fc.integer(), fc.string(), fc.constant(1e6))),
      fc.tuple(fc.constant("method"), fc.string()),
      fc.tuple(fc.constantFrom("params", "result"), object),
      fc.tuple(fc.constant("jsonrpc"), fc.constant("2.0")),
      fc.tuple(fc.constantFrom("x", "Id"), value),
    );
    const spelled = (name: string, escaped: boolean) =>
      escaped ? `"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}"` : JSON.stringify(name);
    const space = fc.constantFrom("", "", "", " ");
    const members = fc.array(fc.tuple(member, fc.constantFrom(false, false, true), space), { maxLength: 6 });
    fc.assert(
      fc.property(members, (list) => {
        const plain = [["jsonrpc", "2.0"] as const, ...list.map(([one]) => one)];
        const texts = list.map(
          ([[name, held], escaped, gap]) => `${spelled(name, escaped)}${gap}:${JSON.stringify(held)}`,
        );
        const text = `{${['"jsonrpc":"2.0"', ...texts].join(",")}}`;
        const names = plain.map(([name]) => name).filter((name) => name !== "x" && name !== "Id");
        expect(/occurs twice/.test(refused(text) ?? "")).toBe(new Set(names).size < names.length);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("numbers that are not finite", () => {
  it.each(["1e400", "-1E+999", "9".repeat(400), `${"9".repeat(250)}e99`])("are refused, also nested: %s", (number) => {
    const members = ["x", "result", 'params":{},"', 'method":"m","params":{},"x'];
    for (const member of members)
      expect(refused(`{"jsonrpc":"2.0","id":1,"${member}":${number}}`)).toMatch(/too large/);
    for (const params of [`{"n":${number}}`, `{"a":[{"b":[${number}]}]}`]) {
      expect(parseMessage(`{"jsonrpc":"2.0","id":1,"method":"m","params":${params}}`)).toMatchObject({
        kind: "invalid",
        code: -32600,
        id: 1,
        reason: expect.stringContaining("too large"),
      });
    }
  });

  it.each(["1e308", '"1e400"', "1e-400", "0.000e9", '"a7e999"'])("are no others: %s", (number) => {
    expect(parseMessage(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"n":${number}}}`).kind).toBe("request");
  });
});

describe("nesting", () => {
  it("of megabytes is refused before it is parsed", () => {
    const brackets = 2_000_000;
    for (const text of ["[".repeat(2 * brackets), `${"[".repeat(brackets)}${"]".repeat(brackets)}`]) {
      const parse = vi.spyOn(JSON, "parse");
      onTestFinished(() => parse.mockRestore());
      expect(refused(text)).toContain("128 levels");
      expect(parse).not.toHaveBeenCalled();
    }
  });

  it("counts no brackets in strings, and reads broken text to its end", () => {
    expect(scanEnvelope(`{"a":"${"[".repeat(500)}\\"[","b":[]}`, 3)).toBeUndefined();
    for (const text of ['{"a', '{"a\\', "]]]]", '"\\"', ""]) expect(scanEnvelope(text, 3)).toBeUndefined();
  });
});
