const text = {
  title: "Text",
  type: "object",
  properties: { type: { const: "text" }, text: { type: "string", format: "multiline" } },
  required: ["type", "text"],
};

const toolUse = {
  title: "Tool call",
  type: "object",
  properties: {
    type: { const: "tool_use" },
    id: { type: "string", default: "call-1" },
    name: { type: "string" },
    input: { type: "object", additionalProperties: true },
  },
  required: ["type", "id", "name", "input"],
};

const media = (type: "image" | "audio", mimeType: string) => ({
  title: type === "image" ? "Image" : "Audio",
  type: "object",
  properties: { type: { const: type }, data: { type: "string" }, mimeType: { type: "string", default: mimeType } },
  required: ["type", "data", "mimeType"],
});

const blocks = [text, toolUse, media("image", "image/png"), media("audio", "audio/wav")];

/** The schema of the form for the answer of a model. */
export const SAMPLE_SCHEMA = {
  type: "object",
  // The form shows the members in this order: first the content, then the members that rarely change.
  properties: {
    content: { anyOf: [...blocks, { title: "Several blocks", type: "array", items: { anyOf: blocks } }] },
    model: { type: "string" },
    role: { enum: ["assistant", "user"] },
    stopReason: { type: "string", examples: ["endTurn", "stopSequence", "maxTokens", "toolUse"] },
  },
  required: ["role", "content", "model"],
};

/** The initial answer. */
export const FIRST_SAMPLE = {
  role: "assistant",
  content: { type: "text", text: "" },
  model: "a person",
  stopReason: "endTurn",
};
