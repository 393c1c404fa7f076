import { expect, test } from "vitest";
import { outsideAddress } from "./outside-address.js";

test("addresses of http and https can be opened, as a browser would write them", () => {
  expect(outsideAddress("https://example.com/a b")).toBe("https://example.com/a%20b");
  expect(outsideAddress("http://127.0.0.1:3000")).toBe("http://127.0.0.1:3000/");
});

for (const address of [
  "javascript:alert(1)",
  " JavaScript:alert(1)",
  "java\nscript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "file:///etc/passwd",
  "blob:https://example.com/1",
  "vbscript:x",
  "/relative",
  "//example.com",
  "",
]) {
  test(`${JSON.stringify(address)} is never opened`, () => {
    expect(outsideAddress(address)).toBeUndefined();
  });
}
