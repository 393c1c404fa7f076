import { describe, expect, it } from "vitest";
import { bytesOf, textOf } from "./content.js";

describe("content", () => {
  it("textOf joins the text of results of tools, reads and prompts", () => {
    const image = { type: "image" as const, data: "", mimeType: "image/png" };
    const embedded = { type: "resource" as const, resource: { uri: "u", text: "inside" } };
    expect(textOf({ content: [{ type: "text", text: "a" }, image, embedded] })).toBe("a\ninside");
    expect(
      textOf({
        contents: [
          { uri: "u", text: "a" },
          { uri: "u", blob: "" },
          { uri: "v", text: "b" },
        ],
      }),
    ).toBe("a\nb");
    expect(textOf({ messages: [{ content: { type: "text", text: "a" } }] })).toBe("a");
    expect(textOf({ content: [] })).toBe("");
  });

  it("bytesOf decodes images, sounds and blobs", () => {
    expect([...bytesOf({ data: "AAH/" })]).toEqual([0, 1, 255]);
    expect([...bytesOf({ blob: "" })]).toEqual([]);
    expect(() => bytesOf({ data: "*" })).toThrow();
  });
});
