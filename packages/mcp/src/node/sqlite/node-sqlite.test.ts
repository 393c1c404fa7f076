import { expect, it } from "vitest";
import { resultCode, sqliteFailure } from "./node-sqlite.js";

const thrown = (errcode: number) => Object.assign(new Error("as SQLite says it"), { errcode });

it.each([
  [5, "timeout", /busyTimeoutMs/],
  [8, "read-only", /right to write/],
  [8 | (4 << 8), "read-only", /right to write/],
  [10 | (3 << 8), "unavailable", /disk/],
  [11, "corrupt", /backup/],
  [14, "unavailable", /folder/],
  [26, "corrupt", /another file/],
  [1, "unavailable", /"as SQLite says it"/],
])("result %i of SQLite is a failure %s that says what to do", (code, reason, text) => {
  const cause = thrown(code);
  const failure = sqliteFailure(cause, "/data/state.db");
  expect(failure).toMatchObject({ reason, cause });
  expect(failure.message).toMatch(text);
  expect(failure.message).toContain("/data/state.db");
  expect(failure.fix).not.toBe("");
});

it("finds no result of SQLite in other errors", () => {
  expect(resultCode(new Error("x"))).toBeUndefined();
  expect(resultCode(undefined)).toBeUndefined();
});
