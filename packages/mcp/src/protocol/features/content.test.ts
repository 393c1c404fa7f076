import { describe, expect, it } from "vitest";
import { blockContent } from "./content.js";

describe("the content of a block", () => {
  it.each([
    [
      { type: "text", text: "a" },
      { kind: "text", text: "a", uri: undefined },
    ],
    [
      { type: "image", data: "AA==", mimeType: "image/png" },
      { kind: "image", data: "AA==", mimeType: "image/png", uri: undefined },
    ],
    [
      { type: "audio", data: "AA==" },
      { kind: "audio", data: "AA==", mimeType: undefined, uri: undefined },
    ],
    [
      { type: "resource", resource: { uri: "r:1", text: "a" } },
      { kind: "text", text: "a", uri: "r:1" },
    ],
    [
      { type: "resource", resource: { uri: "r:1", blob: "AA==" } },
      { kind: "file", data: "AA==", mimeType: undefined, uri: "r:1" },
    ],
  ])("of %j", (block, content) => {
    expect(blockContent(block)).toEqual(content);
  });

  it("of a link is the link", () => {
    const link = { type: "resource_link", uri: "r:1", name: "one" };
    expect(blockContent(link)).toEqual({ kind: "link", link });
  });

  it("of anything else is unknown", () => {
    const others = [undefined, null, 1, [], {}, { type: "text" }, { type: "image" }, { type: "video", data: "AA==" }];
    const malformed = [
      { type: "resource", resource: {} },
      { type: "resource", resource: { uri: "r:1", text: 1 } },
    ];
    const links = [
      { type: "resource_link", uri: "r:1" },
      { type: "resource_link", name: "one" },
    ];
    for (const block of [...others, ...malformed, ...links]) expect(blockContent(block)).toEqual({ kind: "unknown" });
  });
});
