import { connect, content, Server, ToolError } from "@parley/mcp";
import { REVISIONS, type Revision } from "@parley/mcp/protocol";
import type { WireMessage } from "@parley/mcp/transport";
import { describe, expect, it } from "vitest";
import { messageProblems } from "../../src/validation/message-problems.js";

const picture = new Uint8Array([137, 80, 78, 71]);

function everyKind(): Server {
  return new Server({ name: "kinds", version: "1.0.0", title: "Kinds" }, { instructions: "Try it." })
    .tool(
      "echo",
      {
        description: "Echoes",
        input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
        output: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
        annotations: { readOnlyHint: true },
      },
      ({ text }) => ({ text }),
    )
    .tool("media", { description: "Shows" }, () => [content.text("a"), content.image(picture, "image/png")])
    .tool("fail", { description: "Fails" }, () => {
      throw new ToolError("no");
    })
    .tool("work", { description: "Works" }, async (_args, ctx) => {
      ctx.progress(1, { total: 2, message: "half" });
      ctx.log("info", { step: 1 });
      return "done";
    })
    .tool("ask", { description: "Asks" }, async (_args, ctx) => {
      const question = { type: "object", properties: { name: { type: "string" } } } as const;
      const { name } = await ctx.elicit("Who are you?", question);
      return `hello ${String(name)}`;
    })
    .resource("note://today", { mimeType: "text/plain" }, () => "text")
    .resource("logo://small", { mimeType: "image/png" }, () => picture)
    .prompt(
      "greet",
      { description: "Greets", arguments: { name: { complete: ["Ada"] } } },
      ({ name }) => `Hello ${name}`,
    );
}

async function session(revision: Revision): Promise<WireMessage[]> {
  const messages: WireMessage[] = [];
  const client = await connect(everyKind(), {
    revisions: [revision],
    onMessage: (message) => messages.push(message),
    onElicit: () => ({ action: "accept", content: { name: "Ada" } }),
    roots: [{ uri: "file:///home" }],
    logLevel: "info",
    cache: false,
  });
  try {
    await client.allTools();
    await client.callTool("echo", { text: "a" });
    await client.callTool("media");
    await client.callTool("fail");
    await client.callTool("work", {}, { onProgress: () => {} });
    // The oldest revisions have no questions to users, and the tool says so.
    await client.tryRequest("tools/call", { name: "ask", arguments: {} });
    await client.allResources();
    await client.allResourceTemplates();
    await client.readResource("note://today");
    await client.readResource("logo://small");
    await client.tryReadResource("note://never");
    await client.allPrompts();
    await client.getPrompt("greet", { name: "Ada" });
    await client.complete({ prompt: "greet" }, { name: "name", value: "A" });
    await client.tryRequest("tools/call", { name: "unknown", arguments: {} });
  } finally {
    await client.close();
  }
  return messages;
}

describe("a session of this library's client and server", () => {
  it.each(REVISIONS)("breaks the published schema of %s nowhere", async (revision) => {
    const messages = await session(revision);
    const methods = new Map<unknown, string>();
    const definitions = new Set<string>();
    for (const { direction, message } of messages) {
      if (typeof message.method === "string" && message.id !== undefined) {
        methods.set(`${direction} ${message.id}`, message.method);
      }
      const asked = direction === "sent" ? "received" : "sent";
      const { definition, problems } = messageProblems({
        revision,
        sender: direction === "sent" ? "client" : "server",
        message,
        answers: methods.get(`${asked} ${String(message.id)}`),
      });
      definitions.add(definition);
      expect({ message, definition, problems }).toEqual({ message, definition, problems: [] });
    }
    expect(messages.length).toBeGreaterThan(25);
    for (const name of [
      "CallToolRequest",
      "CallToolResult",
      "CompleteResult",
      "GetPromptResult",
      "JSONRPCErrorResponse",
      "ListToolsResult",
      "LoggingMessageNotification",
      "ProgressNotification",
      "ReadResourceResult",
    ]) {
      // The older revisions have another name for errors.
      const older = revision < "2025-11-25" ? name.replace("ErrorResponse", "Error") : name;
      expect([...definitions]).toContain(older);
    }
    expect([...definitions]).toContain(revision === "2026-07-28" ? "DiscoverResult" : "InitializeResult");
    expect(definitions.has("ElicitRequest")).toBe(revision === "2025-06-18" || revision === "2025-11-25");
    expect(definitions.has("InputRequiredResult")).toBe(revision === "2026-07-28");
  });
});
