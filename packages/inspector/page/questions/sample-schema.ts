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
  title: type === "image" ? "Picture" : "Sound",
  type: "object",
  properties: { type: { const: type }, data: { type: "string" }, mimeType: { type: "string", default: mimeType } },
  required: ["type", "data", "mimeType"],
});

const blocks = [text, toolUse, media("image", "image/png"), media("audio", "audio/wav")];

/** What is sent as the answer of a model, as a form. */
export const SAMPLE_SCHEMA = {
  type: "object",
  // What is written is first, and what is rarely changed is below.
  properties: {
    content: { anyOf: [...blocks, { title: "Several", type: "array", items: { anyOf: blocks } }] },
    model: { type: "string" },
    role: { enum: ["assistant", "user"] },
    stopReason: { type: "string", examples: ["endTurn", "stopSequence", "maxTokens", "toolUse"] },
  },
  required: ["role", "content", "model"],
};

/** The answer that the form begins with. */
export const FIRST_SAMPLE = {
  role: "assistant",
  content: { type: "text", text: "" },
  model: "a person",
  stopReason: "endTurn",
};
