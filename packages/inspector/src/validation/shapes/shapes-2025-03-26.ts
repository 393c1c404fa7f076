// Written by scripts/message-shapes.mjs.
/** The definitions that 2025-03-26 adds, changes or removes (`-`) relative to 2024-11-05. */
export const SHAPES_2025_03_26 = `
Annotated -
Annotations = { audience?: Role[]; priority?: number<0..1> }
AudioContent = { annotations?: Annotations; data: base64; mimeType: string; type: "audio" }
CallToolResult = { _meta?: object; content: (TextContent | ImageContent | AudioContent | EmbeddedResource)[];
  isError?: boolean }
CreateMessageResult = { _meta?: object; content: TextContent | ImageContent | AudioContent; model: string; role: Role;
  stopReason?: string }
EmbeddedResource = { annotations?: Annotations; resource: TextResourceContents | BlobResourceContents;
  type: "resource" }
ImageContent = { annotations?: Annotations; data: base64; mimeType: string; type: "image" }
JSONRPCBatchRequest = (JSONRPCRequest | JSONRPCNotification)[]
JSONRPCBatchResponse = (JSONRPCResponse | JSONRPCError)[]
JSONRPCMessage = JSONRPCRequest | JSONRPCNotification | (JSONRPCRequest | JSONRPCNotification)[] | JSONRPCResponse |
  JSONRPCError | (JSONRPCResponse | JSONRPCError)[]
ProgressNotification = { method: "notifications/progress"; params: { message?: string; progress: number;
  progressToken: ProgressToken; total?: number } }
PromptMessage = { content: TextContent | ImageContent | AudioContent | EmbeddedResource; role: Role }
Resource = { annotations?: Annotations; description?: string; mimeType?: string; name: string; size?: integer;
  uri: uri }
ResourceTemplate = { annotations?: Annotations; description?: string; mimeType?: string; name: string;
  uriTemplate: uriTemplate }
SamplingMessage = { content: TextContent | ImageContent | AudioContent; role: Role }
ServerCapabilities = { completions?: object; experimental?: { *: object }; logging?: object;
  prompts?: { listChanged?: boolean }; resources?: { listChanged?: boolean; subscribe?: boolean };
  tools?: { listChanged?: boolean } }
TextContent = { annotations?: Annotations; text: string; type: "text" }
Tool = { annotations?: ToolAnnotations; description?: string; inputSchema: { properties?: { *: object };
  required?: string[]; type: "object" }; name: string }
ToolAnnotations = { destructiveHint?: boolean; idempotentHint?: boolean; openWorldHint?: boolean;
  readOnlyHint?: boolean; title?: string }
`;
