import { describe, expect, it } from "vitest";
import { featuresOf } from "../../protocol/revisions.js";
import { samplingAnswer } from "./client.js";

describe("SAMP-07: answers for older revisions", () => {
  const answer = (content: never) => ({ role: "assistant" as const, model: "m", content });
  const two = [
    { type: "text", text: "a" },
    { type: "text", text: "b" },
  ] as never;

  it("a list becomes one block where the revision has no lists", () => {
    expect(samplingAnswer(featuresOf("2025-06-18"), answer(two)).content).toEqual({ type: "text", text: "a\nb" });
    expect(samplingAnswer(featuresOf("2025-11-25"), answer(two)).content).toEqual(two);
  });

  it("an image stays one when there is no text", () => {
    const image = { type: "image", data: "", mimeType: "image/png" };
    expect(samplingAnswer(featuresOf("2025-03-26"), answer([image] as never)).content).toEqual(image);
    expect(samplingAnswer(featuresOf("2025-03-26"), answer([] as never)).content).toEqual({ type: "text", text: "" });
  });
});
