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
