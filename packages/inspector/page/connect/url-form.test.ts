import { expect, test } from "vitest";
import { headerLines } from "./url-form.js";

test("headers are read a line each, and empty lines are skipped", () => {
  expect(headerLines("X-Key: a:b\n\n  Accept-Language :  nb \n")).toEqual({ "X-Key": "a:b", "Accept-Language": "nb" });
});

for (const line of ["no colon", ": value", "bad name: x", "ünïcode: x"]) {
  test(`"${line}" is refused, and the line is named`, () => {
    expect(() => headerLines(`X-Fine: 1\n${line}`)).toThrow(line);
  });
}
