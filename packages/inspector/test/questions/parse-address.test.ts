import { describe, expect, it } from "vitest";
import { parseAddress } from "../../page/parts/address-view.js";
import { issuesIn } from "../../page/questions/answer-question.js";

describe("an address that a server wants to be visited", () => {
  it("is shown as a whole, with its host apart", () => {
    expect(parseAddress("https://pay.example.com:8443/a?b=c#d")).toEqual({
      before: "https://",
      host: "pay.example.com:8443",
      after: "/a?b=c#d",
      warnings: [],
      canOpen: true,
    });
  });

  it.each([
    ["https://bank.example@evil.example/x", "evil.example", "user name"],
    ["https://bank.example:pass@evil.example/", "evil.example", "user name"],
    ["https://xn--80ak6aa92e.com/", "xn--80ak6aa92e.com", "other than a–z"],
    ["https://аррӏе.com/", "xn--80ak6aa92e.com", "other than a–z"],
    ["http://example.com/", "example.com", "not encrypted"],
    ["https://192.0.2.1/", "192.0.2.1", "an IP address"],
    ["https://3221225985/", "192.0.2.1", "an IP address"],
    ["https://[2001:db8::1]/", "[2001:db8::1]", "an IP address"],
    ["http://localhost:3000/", "localhost:3000", "this machine"],
    ["https://example.com/\u202egpj.exe", "example.com", "invisible characters"],
  ])("is warned of: %s", (address, host, warning) => {
    const parts = parseAddress(address);
    expect(parts.host).toBe(host);
    expect(parts.warnings.join(" ")).toContain(warning);
    expect(parts.canOpen).toBe(true);
  });

  it("keeps every character of what a browser would visit", () => {
    for (const address of ["https://a:b@c.example:1/d?e#f", "https://user@c.example/", "http://c.example/?@x"]) {
      const { before, host, after } = parseAddress(address);
      expect(before + host + after).toBe(address);
    }
  });

  it.each(["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "no address", "", "//example.com"])(
    "is not opened: %j",
    (address) => {
      expect(parseAddress(address)).toMatchObject({ before: address, canOpen: false, warnings: { length: 1 } });
    },
  );
});

describe("what a refusal says of fields", () => {
  it("is read as far as it is readable", () => {
    expect(issuesIn({ issues: [{ path: "/a", message: "Required" }, { message: "whole" }, {}, 5, null] })).toEqual([
      { path: "/a", message: "Required" },
      { path: "", message: "whole" },
    ]);
    expect(issuesIn(undefined)).toEqual([]);
    expect(issuesIn({ issues: "x" })).toEqual([]);
  });
});
