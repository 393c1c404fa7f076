import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { standardFormats } from "./formats.js";
import { compileValidator } from "./validate.js";

const cases: Record<string, { good: string[]; bad: string[] }> = {
  date: { good: ["2024-02-29", "1999-12-31"], bad: ["2023-02-29", "2024-13-01", "24-01-01", "2024-1-1"] },
  time: { good: ["12:00:00Z", "23:59:60Z", "01:02:03.4+05:30"], bad: ["24:00:00Z", "12:00:60Z", "12:00:00"] },
  "date-time": {
    good: ["2024-02-29T12:00:00Z", "2024-01-01t00:00:00.5-01:00"],
    bad: ["2024-02-30T12:00:00Z", "2024-01-01 00:00:00Z"],
  },
  duration: { good: ["P1Y2M3DT4H5M6S", "PT1S", "P3W"], bad: ["P", "PT", "1D", "P1Y2D"] },
  email: { good: ["ada@example.com", "a.b+c@d-e.org", '"a b"@x.y'], bad: ["ada", "@x", "a@b@c", "a..b@c.d", "a@-b.c"] },
  hostname: { good: ["localhost", "a-b.example.com"], bad: ["", "-a", "a_b", "a..b", `${"a".repeat(64)}.com`] },
  ipv4: { good: ["127.0.0.1", "255.255.255.255"], bad: ["256.0.0.1", "1.2.3", "01.2.3.4"] },
  ipv6: { good: ["::1", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "::"], bad: ["1::2::3", "12345::", "1:2:3", ":::"] },
  uri: {
    good: ["https://example.com/a?b#c", "urn:isbn:1", "http://[::1]:80/"],
    bad: ["/a", "http://a b", "http://[x]/", "\\"],
  },
  "uri-reference": { good: ["/a/b", "", "#x"], bad: ["a b", "1:b"] },
  uuid: { good: ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"], bad: ["2eb8aa08aa9811eab4aa73b441d16380"] },
  "json-pointer": { good: ["", "/a~0b/~1"], bad: ["a", "/~2"] },
  regex: { good: ["^a$"], bad: ["("] },
};

describe("standardFormats", () => {
  for (const [format, { good, bad }] of Object.entries(cases)) {
    it(`tell a ${format} from what is none`, () => {
      const { validate } = compileValidator({ format }, { formats: standardFormats });
      expect(good.filter((text) => !validate(text).valid)).toEqual([]);
      expect(bad.filter((text) => validate(text).valid)).toEqual([]);
    });
  }

  it("are covered one by one above", () =>
    expect(Object.keys(cases).sort()).toEqual(Object.keys(standardFormats).sort()));

  it("only annotate unless they are asked for", () => {
    expect(compileValidator({ format: "email" }).validate("nobody").valid).toBe(true);
    expect(compileValidator({ format: "no-such" }, { formats: standardFormats }).validate("x").valid).toBe(true);
  });
});

it("The format cases of the JSON Schema test suite pass, but for host names in Punycode, which are not decoded", () => {
  const folder = new URL("../../../../../../shared/corpora/json-schema/draft2020-12/optional/format/", import.meta.url);
  if (!existsSync(folder)) {
    console.log("../shared/corpora/json-schema is absent: its format cases were not run");
    return;
  }
  const failures: string[] = [];
  let count = 0;
  for (const format of Object.keys(standardFormats)) {
    type Group = { schema: unknown; tests: { data: unknown; valid: boolean; description: string }[] };
    for (const group of JSON.parse(readFileSync(new URL(`${format}.json`, folder), "utf8")) as Group[]) {
      const validator = compileValidator(group.schema, { formats: standardFormats });
      for (const { data, valid, description } of group.tests) {
        if (format === "hostname" && /xn--/i.test(String(data))) continue;
        count++;
        if (validator.validate(data).valid !== valid) failures.push(`${format}: ${description}`);
      }
    }
  }
  console.log(`JSON Schema test suite: ${count - failures.length} of ${count} format cases pass`);
  expect(failures).toEqual([]);
});
