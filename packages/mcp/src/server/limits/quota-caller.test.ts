import { expect, it } from "vitest";
import type { HttpRequestInfo } from "../../http/http.js";
import { quotaCallerOf } from "./quota-caller.js";

function keyOf(remoteAddress: string): string {
  // All that is read of it.
  return quotaCallerOf({ http: { remoteAddress } as HttpRequestInfo }).key;
}

it("a caller without a principal is one, whichever address of its IPv6 network it uses", () => {
  const one = keyOf("2001:db8:1:2::1");
  expect(keyOf("2001:db8:1:2:ffff:ffff:ffff:ffff")).toBe(one);
  expect(keyOf("2001:db8:1:2:3::")).toBe(one);
  expect(keyOf("2001:db8:1:3::1")).not.toBe(one);
  expect(keyOf("::ffff:192.0.2.7")).toBe(keyOf("192.0.2.7"));
  expect(keyOf("192.0.2.8")).not.toBe(keyOf("192.0.2.7"));
  expect(keyOf("fe80::1%eth0")).toBe(keyOf("fe80::2"));
  expect(keyOf("2001:db8::1")).toBe(keyOf("2001:db8:0:0:9::"));
  expect(keyOf("::1")).not.toBe(keyOf(""));
});
