// Written by scripts/message-shapes.mjs.
/** The definitions that 2025-06-18 adds, changes or removes (`-`) relative to 2025-03-26. */
export const SHAPES_2025_06_18 = `
JSONRPCBatchRequest -
JSONRPCBatchResponse -
ResourceReference -
Annotations = { audience?: Role[]; lastModified?: string; priority?: number<0..1> }
AudioContent = { _meta?: object; annotations?: Annotations; data: base64; mimeType: string; type: "audio" }
BaseMetadata = { name: string; title?: string }
BlobResourceContents = { _meta?: object; blob: base64; mimeType?: string; uri: uri }
BooleanSchema = { default?: boolean; description?: string; title?: string; type: "boolean" }
CallToolResult = { _meta?: object; content: ContentBlock[]; isError?: boolean; structuredContent?: object }
ClientCapabilities = { elicitation?: object; experimental?: { *: object }; roots?: { listChanged?: boolean };
  sampling?: object }
ClientResult = Result | CreateMessageResult | ListRootsResult | ElicitResult
CompleteRequest = { method: "completion/complete"; params: { argument: { name: string; value: string };
  context?: { arguments?: { *: string } }; ref: PromptReference | ResourceTemplateReference } }
ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
ElicitRequest = { method: "elicitation/create"; params: { message: string;
  requestedSchema: { properties: { *: PrimitiveSchemaDefinition }; required?: string[]; type: "object" } } }
ElicitResult = { _meta?: object; action: "accept" | "cancel" | "decline"; content?: { *: string | number | boolean } }
EmbeddedResource = { _meta?: object; annotations?: Annotations; resource: TextResourceContents | BlobResourceContents;
  type: "resource" }
EnumSchema = { description?: string; enum: string[]; enumNames?: string[]; title?: string; type: "string" }
ImageContent = { _meta?: object; annotations?: Annotations; data: base64; mimeType: string; type: "image" }
Implementation = { name: string; title?: string; version: string }
JSONRPCMessage = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError
NumberSchema = { description?: string; maximum?: number; minimum?: number; title?: string; type: "integer" | "number" }
PrimitiveSchemaDefinition = StringSchema | NumberSchema | BooleanSchema | EnumSchema
Prompt = { _meta?: object; arguments?: PromptArgument[]; description?: string; name: string; title?: string }
PromptArgument = { description?: string; name: string; required?: boolean; title?: string }
PromptMessage = { content: ContentBlock; role: Role }
PromptReference = { name: string; title?: string; type: "ref/prompt" }
Resource = { _meta?: object; annotations?: Annotations; description?: string; mimeType?: string; name: string;
  size?: integer; title?: string; uri: uri }
ResourceContents = { _meta?: object; mimeType?: string; uri: uri }
ResourceLink = { _meta?: object; annotations?: Annotations; description?: string; mimeType?: string; name: string;
  size?: integer; title?: string; type: "resource_link"; uri: uri }
ResourceTemplate = { _meta?: object; annotations?: Annotations; description?: string; mimeType?: string; name: string;
  title?: string; uriTemplate: uriTemplate }
ResourceTemplateReference = { type: "ref/resource"; uri: uriTemplate }
Root = { _meta?: object; name?: string; uri: uri }
ServerRequest = PingRequest | CreateMessageRequest | ListRootsRequest | ElicitRequest
StringSchema = { description?: string; format?: "date" | "date-time" | "email" | "uri"; maxLength?: integer;
  minLength?: integer; title?: string; type: "string" }
TextContent = { _meta?: object; annotations?: Annotations; text: string; type: "text" }
TextResourceContents = { _meta?: object; mimeType?: string; text: string; uri: uri }
Tool = { _meta?: object; annotations?: ToolAnnotations; description?: string; inputSchema: { properties?: { *: object };
  required?: string[]; type: "object" }; name: string; outputSchema?: { properties?: { *: object }; required?: string[];
  type: "object" }; title?: string }
`;
