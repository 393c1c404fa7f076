import { describe, expect, it } from "vitest";
import { isLoggingLevel, LOG_LEVELS, passesLevel } from "./logging.js";

describe("log levels", () => {
  it("stand in the order of RFC 5424, least severe first", () => {
    expect(LOG_LEVELS).toEqual(["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]);
  });

  it("are recognised by their exact names", () => {
    for (const level of LOG_LEVELS) expect(isLoggingLevel(level)).toBe(true);
    for (const other of ["warn", "Debug", "", 0, null, undefined]) expect(isLoggingLevel(other)).toBe(false);
  });

  it("pass a threshold that is equal or lower", () => {
    expect(passesLevel("warning", "warning")).toBe(true);
    expect(passesLevel("error", "warning")).toBe(true);
    expect(passesLevel("notice", "warning")).toBe(false);
  });
});
