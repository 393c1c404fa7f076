import { describe, expect, it } from "vitest";
import { blockContent, isContentBlock, isResourceContents } from "./content.js";
import { isSamplingContent } from "./sampling.js";

const text = { type: "text", text: "" };
const image = { type: "image", data: "", mimeType: "image/png" };
const audio = { type: "audio", data: "", mimeType: "audio/wav" };
const link = { type: "resource_link", uri: "file:///a", name: "a" };
const embedded = { type: "resource", resource: { uri: "file:///a", text: "" } };

describe("isContentBlock", () => {
  it("accepts the five blocks with nothing but what each requires", () => {
    for (const block of [text, image, audio, link, embedded]) expect(isContentBlock(block)).toBe(true);
  });

  it("accepts a resource by its bytes as well as by its text", () => {
    expect(isContentBlock({ type: "resource", resource: { uri: "x:", blob: "" } })).toBe(true);
  });

  it("keeps to what is required: unknown members and odd annotations do not matter", () => {
    expect(isContentBlock({ ...text, annotations: 5, more: [] })).toBe(true);
  });

  it("refuses what is no block", () => {
    const bad = [
      undefined,
      null,
      "text",
      [],
      {},
      { type: "text" },
      { type: "text", text: 1 },
      { type: "image", data: "" },
      { type: "audio", mimeType: "audio/wav" },
      { type: "resource" },
      { type: "resource", resource: { uri: "x:" } },
      { type: "resource", resource: { text: "" } },
      { type: "resource_link", uri: "x:" },
      { type: "constructor" },
      { type: "tool_use", id: "1", name: "a", input: {} },
    ];
    for (const value of bad) expect(isContentBlock(value), JSON.stringify(value)).toBe(false);
  });
});

describe("isResourceContents", () => {
  it("wants an address and one of text and blob", () => {
    expect(isResourceContents({ uri: "x:", text: "" })).toBe(true);
    expect(isResourceContents({ uri: "x:", blob: "" })).toBe(true);
    expect(isResourceContents({ uri: "x:" })).toBe(false);
    expect(isResourceContents({ text: "" })).toBe(false);
  });
});

describe("isSamplingContent", () => {
  it("accepts text, image, audio, and tools used and their results", () => {
    const use = { type: "tool_use", id: "1", name: "a", input: {} };
    const result = { type: "tool_result", toolUseId: "1", content: [text, embedded] };
    for (const block of [text, image, audio, use, result]) expect(isSamplingContent(block)).toBe(true);
  });

  it("refuses resources, which a model cannot be given, and results with a broken block", () => {
    const broken = { type: "tool_result", toolUseId: "1", content: [{ type: "text" }] };
    for (const block of [link, embedded, broken, null]) expect(isSamplingContent(block)).toBe(false);
  });
});

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
