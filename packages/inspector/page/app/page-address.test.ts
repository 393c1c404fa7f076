import { expect, test } from "vitest";
import { readAddress } from "./page-address.js";

test("view and connection are read from the address", () => {
  expect(readAddress("#timeline/c2")).toEqual({ view: "timeline", connection: "c2" });
  expect(readAddress("#use")).toEqual({ view: "use" });
});

for (const hash of ["", "#", "#nonsense", "#__proto__", "#<script>"]) {
  test(`"${hash}" names no view`, () => {
    expect(readAddress(hash)).toEqual({});
  });
}

test("a connection that is wrongly encoded is taken as it is", () => {
  expect(readAddress("#use/%zz")).toEqual({ view: "use", connection: "%zz" });
});
