import fc from "fast-check";
import { parse as parseJsonc } from "jsonc-parser";
import { describe, expect, it } from "vitest";
import { entryIn, type ServerList, withEntry, withoutEntry } from "./server-entry-edit.js";

const JSON_LIST: ServerList = { path: "mcp.json", format: "json", container: "mcpServers" };
const TOML_LIST: ServerList = { path: "config.toml", format: "toml", container: "mcp_servers" };
const ENTRY = { command: "node", args: ["a b.js", '"q"'], env: { "A-B": "$A" } };

const space = fc.constantFrom("", " ", "\n", "\n  ", "\t", "\n\n    ");
const gap = fc
  .array(fc.oneof(space, fc.constantFrom("/* c */", '// line, { "x": 1 }\n', "/* , */")), { maxLength: 3 })
  .map((parts) => parts.join(""));
const key = fc.constantFrom("a", "b", "mcpServers", "github", "__proto__", "x y", "ü");

/** An object with comments, odd white space and perhaps a trailing comma; names are unique. */
const { object } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom("1", "true", "null", '"//no comment"', '"a\\"b"', "[]", "[1, /* c */ 2]"),
    tie("object"),
  ),
  object: fc
    .tuple(
      fc.uniqueArray(fc.tuple(key, gap, gap, gap, tie("value"), gap), { maxLength: 4, selector: ([name]) => name }),
      gap,
      fc.boolean(),
    )
    .map(([members, end, trailing]) => {
      const texts = members.map(([name, a, b, c, value, d]) => `${a}${JSON.stringify(name)}${b}:${c}${value}${d}`);
      return `{${texts.join(",")}${trailing && texts.length > 0 ? "," : ""}${end}}`;
    }),
}));
const file = fc.tuple(gap, object as fc.Arbitrary<string>, gap).map((parts) => parts.join(""));
function servers(text: string): unknown {
  const value: unknown = parseJsonc(text, [], { allowTrailingComma: true });
  return Object.getOwnPropertyDescriptor(value, "mcpServers")?.value;
}
const usable = (text: string) => servers(text) === undefined || /^\{/.test(JSON.stringify(servers(text)) ?? "");

describe("JSON", () => {
  it("adding and removing gives the same bytes, whatever the file looks like", () => {
    fc.assert(
      fc.property(file.filter(usable), (text) => {
        const added = withEntry(text, JSON_LIST, "new", ENTRY);
        expect(entryIn(added, JSON_LIST, "new")).toEqual(ENTRY);
        expect(withoutEntry(added, JSON_LIST, "new", text)).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it("removing keeps every other byte also without a backup, where there were other servers", () => {
    fc.assert(
      fc.property(file.filter(usable), (text) => {
        fc.pre(Object.keys((servers(text) as object | undefined) ?? {}).length > 0);
        expect(withoutEntry(withEntry(text, JSON_LIST, "new", ENTRY), JSON_LIST, "new")).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it("follows the indentation, the line ends and the trailing commas of the file", () => {
    const text = '{\r\n\t"mcpServers": {\r\n\t\t"a": {}, // mine\r\n\t},\r\n}\r\n';
    expect(withEntry(text, JSON_LIST, "b", { url: "x" })).toBe(
      '{\r\n\t"mcpServers": {\r\n\t\t"a": {}, // mine\r\n\t\t"b": {\r\n\t\t\t"url": "x"\r\n\t\t},\r\n\t},\r\n}\r\n',
    );
    expect(withEntry("", JSON_LIST, "b", {})).toBe('{\n  "mcpServers": {\n    "b": {}\n  }\n}\n');
    expect(withEntry('{"mcpServers":{"a":{}}}', JSON_LIST, "b", {})).toBe('{"mcpServers":{"a":{},"b":{}}}');
  });

  it("replaces an entry where it stands", () => {
    const text = '{ "mcpServers": { "a": { "x": 1 } /* c */, "b": {} } }';
    expect(withEntry(text, JSON_LIST, "a", { url: "x" })).toBe(
      '{ "mcpServers": { "a": {"url":"x"} /* c */, "b": {} } }',
    );
  });

  it.each([
    ["{", "not valid JSON at line 1"],
    ["[]", "does not contain an object"],
    ['{ "mcpServers": [] }', "is not an object"],
    ['{ "mcpServers": {}, "mcpServers": {} }', "cannot be edited safely"],
  ])("refuses %j and changes nothing", (text, why) => {
    expect(() => withEntry(text, JSON_LIST, "a", ENTRY)).toThrow(why);
  });
});

describe("TOML", () => {
  const line = fc.constantFrom(
    "# comment",
    "",
    "model = 'x'",
    "[other]",
    '[mcp_servers.a]\ncommand = "a"',
    '[mcp_servers.a.env]\nX = "1"',
    "[ mcp_servers . 'b c' ]\nargs = [\n  '[x]', # c\n]",
    'text = """\n[not.a.table]\n"""',
  );
  // Keys of the top stand before tables, and every table once.
  const toml = fc
    .uniqueArray(line, { maxLength: 8 })
    .chain((lines) => fc.constantFrom("\n", "\r\n").map((eol) => lines.join("\n").replaceAll("\n", eol) + eol));

  it("adding and removing gives the same bytes, whatever the file looks like", () => {
    let tried = 0;
    fc.assert(
      fc.property(toml, (text) => {
        let added: string;
        try {
          added = withEntry(text, TOML_LIST, "new.one", ENTRY);
        } catch {
          return fc.pre(false);
        }
        tried++;
        expect(entryIn(added, TOML_LIST, "new.one")).toEqual(ENTRY);
        expect(withoutEntry(added, TOML_LIST, "new.one", text)).toBe(text);
      }),
      { numRuns: 200 },
    );
    expect(tried).toBeGreaterThan(100);
  });

  it("takes out an entry with all its tables, and leaves what follows", () => {
    const text =
      'a = 1\n\n[mcp_servers.x]\ncommand = "x"\n\n[mcp_servers.x.env]\nA = "1"\n\n# about y\n[mcp_servers.y]\nurl = "y"\n';
    expect(withoutEntry(text, TOML_LIST, "x")).toBe('a = 1\n\n# about y\n[mcp_servers.y]\nurl = "y"\n');
  });

  it.each([
    ["a = ", "is not valid TOML"],
    ['mcp_servers = { a = { command = "x" } }', "cannot be edited safely"],
  ])("refuses %j and changes nothing", (text, why) => {
    expect(() => withEntry(text, TOML_LIST, "b", ENTRY)).toThrow(new RegExp(why));
  });
});
