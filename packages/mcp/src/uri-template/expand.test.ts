import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { expandUriTemplate, type TemplateValue } from "./expand.js";
import { parseUriTemplate, UriTemplateError } from "./parse.js";

const corpus = new URL("../../../../../shared/corpora/uri-template/", import.meta.url);

interface Group {
  variables: Record<string, TemplateValue>;
  testcases: [template: string, expected: string | string[] | false][];
}

const variables = {
  count: ["one", "two", "three"],
  dom: ["example", "com"],
  dub: "me/too",
  hello: "Hello World!",
  half: "50%",
  var: "value",
  base: "http://example.com/home/",
  path: "/foo/bar",
  list: ["red", "green", "blue"],
  keys: { semi: ";", dot: ".", comma: "," },
  x: 1024,
  y: "768",
  yes: true,
  empty: "",
  emptyKeys: {},
  emptyList: [],
  holes: ["a", null, undefined, "b"],
  undef: null,
};

/** Template, its expansion. Official-SDK defects reproduced elsewhere are among them. */
const cases: [string, string][] = [
  ["{var:3}", "val"],
  ["{var:30}", "value"],
  ["{?list*}", "?list=red&list=green&list=blue"],
  ["{;x,y}", ";x=1024;y=768"],
  ["{;x,y,empty}", ";x=1024;y=768;empty"],
  ["{?x,y,empty}", "?x=1024&y=768&empty="],
  ["{/var,x}/here", "/value/1024/here"],
  ["{keys*}", "semi=%3B,dot=.,comma=%2C"],
  ["{+keys*}", "semi=;,dot=.,comma=,"],
  ["{keys}", "semi,%3B,dot,.,comma,%2C"],
  ["{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"],
  ["{?keys*}", "?semi=%3B&dot=.&comma=%2C"],
  ["{;hello:5}", ";hello=Hello"],
  ["{/list*,path:4}", "/red/green/blue/%2Ffoo"],
  ["X{.list*}", "X.red.green.blue"],
  ["X{.emptyKeys}", "X"],
  ["{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"],
  ["{+base}index", "http://example.com/home/index"],
  ["O{+undef}X{undef}{?undef}{/emptyList*}", "OX"],
  ["{+half}", "50%25"],
  ["{holes}{/holes*}", "a,b/a/b"],
  ["{?yes,var:3}", "?yes=true&var=val"],
  ["{#path,x}/here", "#/foo/bar,1024/here"],
  ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
  ["{hello}", "Hello%20World%21"],
  ["my docs/{var}", "my%20docs/value"],
];

describe("RFC 6570 expansion", () => {
  for (const [template, expected] of cases) {
    it(`expands ${template} to ${expected}`, () => {
      expect(expandUriTemplate(template, variables)).toBe(expected);
    });
  }

  it("reads own properties only, and takes __proto__ for a name", () => {
    expect(expandUriTemplate("{constructor}{toString}", {})).toBe("");
    expect(expandUriTemplate("{__proto__}", JSON.parse('{"__proto__":"x"}'))).toBe("x");
  });

  it("counts characters, not UTF-16 units, in a prefix, and encodes a lone surrogate as U+FFFD", () => {
    expect(expandUriTemplate("{a:1}", { a: "😀b" })).toBe("%F0%9F%98%80");
    expect(expandUriTemplate("{a}{+a}", { a: "\ud800" })).toBe("%EF%BF%BD%EF%BF%BD");
  });

  it("passes every case of the public test suite, where it is present", (test) => {
    if (!existsSync(corpus)) test.skip("../shared/corpora/uri-template is not there");
    let positive = 0;
    let negative = 0;
    for (const file of readdirSync(corpus).filter((name) => name.endsWith(".json"))) {
      const groups: Record<string, Group> = JSON.parse(readFileSync(new URL(file, corpus), "utf8"));
      for (const [name, group] of Object.entries(groups)) {
        for (const [template, expected] of group.testcases) {
          const where = `${file}, ${name}: ${template}`;
          if (expected === false) {
            expect(() => expandUriTemplate(template, group.variables), where).toThrow(UriTemplateError);
            negative++;
          } else {
            expect([expected].flat(), where).toContain(expandUriTemplate(template, group.variables));
            positive++;
          }
        }
      }
    }
    console.log(`uri-template: ${positive} expansions and ${negative} refusals of the public test suite`);
    expect(positive + negative).toBeGreaterThan(200);
  });
});

describe("template parsing", () => {
  const refused: [template: string, position: number, fix: RegExp][] = [
    ["a{b", 1, /missing "}"/],
    ["ab}c", 2, /missing "{"/],
    ["{}", 1, /letters/],
    ["{a,}", 3, /letters/],
    ["{a b}", 1, /no spaces/],
    ["{ok}{a:0}", 5, /1 to 9999/],
    ["{a:10000}", 1, /1 to 9999/],
    ["{!a}", 1, /one of/],
    ["100%/{a}", 3, /%25/],
    ["a\n{b}", 1, /Percent-encode/],
    ["x".repeat(8_193), 8_192, /Shorten/],
    ["{a}".repeat(129), 384, /fewer/],
  ];
  for (const [template, position, fix] of refused) {
    it(`refuses ${JSON.stringify(template.slice(0, 20))} at position ${position} with a fix`, () => {
      expect.assertions(2);
      try {
        parseUriTemplate(template);
      } catch (error) {
        expect(error).toBeInstanceOf(UriTemplateError);
        expect(error).toMatchObject({ position, fix: expect.stringMatching(fix) });
      }
    });
  }

  it("refuses a prefix on a list or an object when it is expanded", () => {
    expect(() => expandUriTemplate("{a:2}", { a: ["x"] })).toThrow(UriTemplateError);
    expect(() => expandUriTemplate("{a:2}", { a: { x: "y" } })).toThrow(/string/);
  });
});
