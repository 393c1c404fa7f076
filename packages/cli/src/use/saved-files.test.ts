import { describe, expect, it } from "vitest";
import { safeName } from "./saved-files.js";

describe("safeName", () => {
  it.each([
    ["picture", "picture"],
    ["get-tiny_image", "get-tiny-image"],
    ["../../etc/passwd", "etc-passwd"],
    ["/absolute", "absolute"],
    [".hidden", "hidden"],
    ["a\u0000b\u202ec", "a-b-c"],
    ["..", "file"],
    ["", "file"],
    ["C:\\x", "C-x"],
    ["con", "filecon"],
    ["LPT1", "fileLPT1"],
    ["x".repeat(500), "x".repeat(60)],
  ])("makes %j to %j", (name, safe) => {
    expect(safeName(name)).toBe(safe);
  });
});
