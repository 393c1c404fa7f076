// Written by scripts/message-shapes.mjs.
/** The definitions of 2024-11-05, in the notation of `parseShape`. */
export const SHAPES_2024_11_05 = `
Annotated = { annotations?: { audience?: Role[]; priority?: number<0..1> } }
BlobResourceContents = { blob: base64; mimeType?: string; uri: uri }
CallToolRequest = { method: "tools/call"; params: { arguments?: object; name: string } }
CallToolResult = { _meta?: object; content: (TextContent | ImageContent | EmbeddedResource)[]; isError?: boolean }
CancelledNotification = { method: "notifications/cancelled"; params: { reason?: string; requestId: RequestId } }
ClientCapabilities = { experimental?: { *: object }; roots?: { listChanged?: boolean }; sampling?: object }
ClientNotification = CancelledNotification | InitializedNotification | ProgressNotification |
  RootsListChangedNotification
ClientRequest = InitializeRequest | PingRequest | ListResourcesRequest | ListResourceTemplatesRequest |
  ReadResourceRequest | SubscribeRequest | UnsubscribeRequest | ListPromptsRequest | GetPromptRequest |
  ListToolsRequest | CallToolRequest | SetLevelRequest | CompleteRequest
ClientResult = Result | CreateMessageResult | ListRootsResult
CompleteRequest = { method: "completion/complete"; params: { argument: { name: string; value: string };
  ref: PromptReference | ResourceReference } }
CompleteResult = { _meta?: object; completion: { hasMore?: boolean; total?: integer; values: string[] } }
CreateMessageRequest = { method: "sampling/createMessage"; params: { includeContext?: "allServers" | "none" |
  "thisServer"; maxTokens: integer; messages: SamplingMessage[]; metadata?: object; modelPreferences?: ModelPreferences;
  stopSequences?: string[]; systemPrompt?: string; temperature?: number } }
CreateMessageResult = { _meta?: object; content: TextContent | ImageContent; model: string; role: Role;
  stopReason?: string }
Cursor = string
EmbeddedResource = { annotations?: { audience?: Role[]; priority?: number<0..1> }; resource: TextResourceContents |
  BlobResourceContents; type: "resource" }
EmptyResult = Result
GetPromptRequest = { method: "prompts/get"; params: { arguments?: { *: string }; name: string } }
GetPromptResult = { _meta?: object; description?: string; messages: PromptMessage[] }
ImageContent = { annotations?: { audience?: Role[]; priority?: number<0..1> }; data: base64; mimeType: string;
  type: "image" }
Implementation = { name: string; version: string }
InitializeRequest = { method: "initialize"; params: { capabilities: ClientCapabilities; clientInfo: Implementation;
  protocolVersion: string } }
InitializeResult = { _meta?: object; capabilities: ServerCapabilities; instructions?: string; protocolVersion: string;
  serverInfo: Implementation }
InitializedNotification = { method: "notifications/initialized"; params?: { _meta?: object } }
JSONRPCError = { error: { code: integer; data?: unknown; message: string }; id: RequestId; jsonrpc: "2.0" }
JSONRPCMessage = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError
JSONRPCNotification = { jsonrpc: "2.0"; method: string; params?: { _meta?: object } }
JSONRPCRequest = { id: RequestId; jsonrpc: "2.0"; method: string;
  params?: { _meta?: { progressToken?: ProgressToken } } }
JSONRPCResponse = { id: RequestId; jsonrpc: "2.0"; result: Result }
ListPromptsRequest = { method: "prompts/list"; params?: { cursor?: string } }
ListPromptsResult = { _meta?: object; nextCursor?: string; prompts: Prompt[] }
ListResourceTemplatesRequest = { method: "resources/templates/list"; params?: { cursor?: string } }
ListResourceTemplatesResult = { _meta?: object; nextCursor?: string; resourceTemplates: ResourceTemplate[] }
ListResourcesRequest = { method: "resources/list"; params?: { cursor?: string } }
ListResourcesResult = { _meta?: object; nextCursor?: string; resources: Resource[] }
ListRootsRequest = { method: "roots/list"; params?: { _meta?: { progressToken?: ProgressToken } } }
ListRootsResult = { _meta?: object; roots: Root[] }
ListToolsRequest = { method: "tools/list"; params?: { cursor?: string } }
ListToolsResult = { _meta?: object; nextCursor?: string; tools: Tool[] }
LoggingLevel = "alert" | "critical" | "debug" | "emergency" | "error" | "info" | "notice" | "warning"
LoggingMessageNotification = { method: "notifications/message"; params: { data: unknown; level: LoggingLevel;
  logger?: string } }
ModelHint = { name?: string }
ModelPreferences = { costPriority?: number<0..1>; hints?: ModelHint[]; intelligencePriority?: number<0..1>;
  speedPriority?: number<0..1> }
Notification = { method: string; params?: { _meta?: object } }
PaginatedRequest = { method: string; params?: { cursor?: string } }
PaginatedResult = { _meta?: object; nextCursor?: string }
PingRequest = { method: "ping"; params?: { _meta?: { progressToken?: ProgressToken } } }
ProgressNotification = { method: "notifications/progress"; params: { progress: number; progressToken: ProgressToken;
  total?: number } }
ProgressToken = string | integer
Prompt = { arguments?: PromptArgument[]; description?: string; name: string }
PromptArgument = { description?: string; name: string; required?: boolean }
PromptListChangedNotification = { method: "notifications/prompts/list_changed"; params?: { _meta?: object } }
PromptMessage = { content: TextContent | ImageContent | EmbeddedResource; role: Role }
PromptReference = { name: string; type: "ref/prompt" }
ReadResourceRequest = { method: "resources/read"; params: { uri: uri } }
ReadResourceResult = { _meta?: object; contents: (TextResourceContents | BlobResourceContents)[] }
Request = { method: string; params?: { _meta?: { progressToken?: ProgressToken } } }
RequestId = string | integer
Resource = { annotations?: { audience?: Role[]; priority?: number<0..1> }; description?: string; mimeType?: string;
  name: string; size?: integer; uri: uri }
ResourceContents = { mimeType?: string; uri: uri }
ResourceListChangedNotification = { method: "notifications/resources/list_changed"; params?: { _meta?: object } }
ResourceReference = { type: "ref/resource"; uri: uriTemplate }
ResourceTemplate = { annotations?: { audience?: Role[]; priority?: number<0..1> }; description?: string;
  mimeType?: string; name: string; uriTemplate: uriTemplate }
ResourceUpdatedNotification = { method: "notifications/resources/updated"; params: { uri: uri } }
Result = { _meta?: object }
Role = "assistant" | "user"
Root = { name?: string; uri: uri }
RootsListChangedNotification = { method: "notifications/roots/list_changed"; params?: { _meta?: object } }
SamplingMessage = { content: TextContent | ImageContent; role: Role }
ServerCapabilities = { experimental?: { *: object }; logging?: object; prompts?: { listChanged?: boolean };
  resources?: { listChanged?: boolean; subscribe?: boolean }; tools?: { listChanged?: boolean } }
ServerNotification = CancelledNotification | ProgressNotification | ResourceListChangedNotification |
  ResourceUpdatedNotification | PromptListChangedNotification | ToolListChangedNotification | LoggingMessageNotification
ServerRequest = PingRequest | CreateMessageRequest | ListRootsRequest
ServerResult = Result | InitializeResult | ListResourcesResult | ListResourceTemplatesResult | ReadResourceResult |
  ListPromptsResult | GetPromptResult | ListToolsResult | CallToolResult | CompleteResult
SetLevelRequest = { method: "logging/setLevel"; params: { level: LoggingLevel } }
SubscribeRequest = { method: "resources/subscribe"; params: { uri: uri } }
TextContent = { annotations?: { audience?: Role[]; priority?: number<0..1> }; text: string; type: "text" }
TextResourceContents = { mimeType?: string; text: string; uri: uri }
Tool = { description?: string; inputSchema: { properties?: { *: object }; required?: string[]; type: "object" };
  name: string }
ToolListChangedNotification = { method: "notifications/tools/list_changed"; params?: { _meta?: object } }
UnsubscribeRequest = { method: "resources/unsubscribe"; params: { uri: uri } }
`;
