// Written by scripts/message-shapes.mjs.
/** The definitions that 2026-07-28 adds, changes or removes (`-`) relative to 2025-11-25. */
export const SHAPES_2026_07_28 = `
CancelTaskRequest -
CancelTaskResult -
CreateTaskResult -
ElicitationCompleteNotification -
GetTaskPayloadRequest -
GetTaskPayloadResult -
GetTaskRequest -
GetTaskResult -
InitializeRequest -
InitializeRequestParams -
InitializeResult -
InitializedNotification -
ListTasksRequest -
ListTasksResult -
PingRequest -
RelatedTaskMetadata -
RootsListChangedNotification -
ServerRequest -
SetLevelRequest -
SetLevelRequestParams -
SubscribeRequest -
SubscribeRequestParams -
Task -
TaskAugmentedRequestParams -
TaskMetadata -
TaskStatus -
TaskStatusNotification -
TaskStatusNotificationParams -
ToolExecution -
URLElicitationRequiredError -
UnsubscribeRequest -
UnsubscribeRequestParams -
AudioContent = { _meta?: MetaObject; annotations?: Annotations; data: base64; mimeType: string; type: "audio" }
BlobResourceContents = { _meta?: MetaObject; blob: base64; mimeType?: string; uri: uri }
CacheableResult = { _meta?: ResultMetaObject; cacheScope: "private" | "public"; resultType: string;
  ttlMs: integer<0..> }
CallToolRequestParams = { _meta: RequestMetaObject; arguments?: object; inputResponses?: InputResponses; name: string;
  requestState?: string }
CallToolResult = { _meta?: ResultMetaObject; content: ContentBlock[]; isError?: boolean; resultType: string;
  structuredContent?: unknown }
CallToolResultResponse = { id: RequestId; jsonrpc: "2.0"; result: InputRequiredResult | CallToolResult }
CancelledNotificationParams = { _meta?: NotificationMetaObject; reason?: string; requestId: RequestId }
ClientCapabilities = { elicitation?: { form?: JSONObject; url?: JSONObject }; experimental?: { *: JSONObject };
  extensions?: { *: JSONObject }; roots?: object; sampling?: { context?: JSONObject; tools?: JSONObject } }
ClientNotification = { jsonrpc: "2.0"; method: "notifications/cancelled"; params: CancelledNotificationParams }
ClientRequest = DiscoverRequest | ListResourcesRequest | ListResourceTemplatesRequest | ReadResourceRequest |
  SubscriptionsListenRequest | ListPromptsRequest | GetPromptRequest | ListToolsRequest | CallToolRequest |
  CompleteRequest
ClientResult = Result
CompleteRequestParams = { _meta: RequestMetaObject; argument: { name: string; value: string };
  context?: { arguments?: { *: string } }; ref: PromptReference | ResourceTemplateReference }
CompleteResult = { _meta?: ResultMetaObject; completion: { hasMore?: boolean; total?: integer; values: string[100] };
  resultType: string }
CompleteResultResponse = { id: RequestId; jsonrpc: "2.0"; result: CompleteResult }
CreateMessageRequest = { method: "sampling/createMessage"; params: CreateMessageRequestParams }
CreateMessageRequestParams = { includeContext?: "allServers" | "none" | "thisServer"; maxTokens: integer;
  messages: SamplingMessage[]; metadata?: JSONObject; modelPreferences?: ModelPreferences; stopSequences?: string[];
  systemPrompt?: string; temperature?: number; toolChoice?: ToolChoice; tools?: Tool[] }
CreateMessageResult = { _meta?: MetaObject; content: TextContent | ImageContent | AudioContent | ToolUseContent |
  ToolResultContent | SamplingMessageContentBlock[]; model: string; role: Role; stopReason?: string }
DiscoverRequest = { id: RequestId; jsonrpc: "2.0"; method: "server/discover"; params: RequestParams }
DiscoverResult = { _meta?: ResultMetaObject; cacheScope: "private" | "public"; capabilities: ServerCapabilities;
  instructions?: string; resultType: string; supportedVersions: string[]; ttlMs: integer<0..> }
DiscoverResultResponse = { id: RequestId; jsonrpc: "2.0"; result: DiscoverResult }
ElicitRequest = { method: "elicitation/create"; params: ElicitRequestParams }
ElicitRequestFormParams = { message: string; mode?: "form"; requestedSchema: { $schema?: string;
  properties: { *: PrimitiveSchemaDefinition }; required?: string[]; type: "object" } }
ElicitRequestParams = ElicitRequestFormParams | ElicitRequestURLParams
ElicitRequestURLParams = { message: string; mode: "url"; url: uri }
ElicitResult = { action: "accept" | "cancel" | "decline"; content?: { *: string[] | string | number | boolean } }
EmbeddedResource = { _meta?: MetaObject; annotations?: Annotations; resource: TextResourceContents |
  BlobResourceContents; type: "resource" }
GetPromptRequestParams = { _meta: RequestMetaObject; arguments?: { *: string }; inputResponses?: InputResponses;
  name: string; requestState?: string }
GetPromptResult = { _meta?: ResultMetaObject; description?: string; messages: PromptMessage[]; resultType: string }
GetPromptResultResponse = { id: RequestId; jsonrpc: "2.0"; result: InputRequiredResult | GetPromptResult }
HeaderMismatchError = { error: Error & { code: -32020 }; id?: RequestId; jsonrpc: "2.0" }
ImageContent = { _meta?: MetaObject; annotations?: Annotations; data: base64; mimeType: string; type: "image" }
InputRequest = CreateMessageRequest | ListRootsRequest | ElicitRequest
InputRequests = { *: InputRequest }
InputRequiredResult = { _meta?: ResultMetaObject; inputRequests?: InputRequests; requestState?: string;
  resultType: string }
InputResponse = CreateMessageResult | ListRootsResult | ElicitResult
InputResponseRequestParams = { _meta: RequestMetaObject; inputResponses?: InputResponses; requestState?: string }
InputResponses = { *: InputResponse }
InternalError = { code: -32603; data?: unknown; message: string }
InvalidParamsError = { code: -32602; data?: unknown; message: string }
InvalidRequestError = { code: -32600; data?: unknown; message: string }
JSONArray = unknown[]
JSONObject = object
JSONValue = unknown
ListPromptsRequest = { id: RequestId; jsonrpc: "2.0"; method: "prompts/list"; params: PaginatedRequestParams }
ListPromptsResult = { _meta?: ResultMetaObject; cacheScope: "private" | "public"; nextCursor?: string;
  prompts: Prompt[]; resultType: string; ttlMs: integer<0..> }
ListPromptsResultResponse = { id: RequestId; jsonrpc: "2.0"; result: ListPromptsResult }
ListResourceTemplatesRequest = { id: RequestId; jsonrpc: "2.0"; method: "resources/templates/list";
  params: PaginatedRequestParams }
ListResourceTemplatesResult = { _meta?: ResultMetaObject; cacheScope: "private" | "public"; nextCursor?: string;
  resourceTemplates: ResourceTemplate[]; resultType: string; ttlMs: integer<0..> }
ListResourceTemplatesResultResponse = { id: RequestId; jsonrpc: "2.0"; result: ListResourceTemplatesResult }
ListResourcesRequest = { id: RequestId; jsonrpc: "2.0"; method: "resources/list"; params: PaginatedRequestParams }
ListResourcesResult = { _meta?: ResultMetaObject; cacheScope: "private" | "public"; nextCursor?: string;
  resources: Resource[]; resultType: string; ttlMs: integer<0..> }
ListResourcesResultResponse = { id: RequestId; jsonrpc: "2.0"; result: ListResourcesResult }
ListRootsRequest = { method: "roots/list"; params?: { _meta?: MetaObject } }
ListRootsResult = { roots: Root[] }
ListToolsRequest = { id: RequestId; jsonrpc: "2.0"; method: "tools/list"; params: PaginatedRequestParams }
ListToolsResult = { _meta?: ResultMetaObject; cacheScope: "private" | "public"; nextCursor?: string; resultType: string;
  tools: Tool[]; ttlMs: integer<0..> }
ListToolsResultResponse = { id: RequestId; jsonrpc: "2.0"; result: ListToolsResult }
LoggingMessageNotificationParams = { _meta?: NotificationMetaObject; data: unknown; level: LoggingLevel;
  logger?: string }
MetaObject = object
MethodNotFoundError = { code: -32601; data?: unknown; message: string }
MissingRequiredClientCapabilityError = { error: Error & { code: -32021;
  data: { requiredCapabilities: ClientCapabilities } }; id?: RequestId; jsonrpc: "2.0" }
NotificationMetaObject = { "io.modelcontextprotocol/subscriptionId"?: RequestId }
NotificationParams = { _meta?: NotificationMetaObject }
PaginatedRequest = { id: RequestId; jsonrpc: "2.0"; method: string; params: PaginatedRequestParams }
PaginatedRequestParams = { _meta: RequestMetaObject; cursor?: string }
PaginatedResult = { _meta?: ResultMetaObject; nextCursor?: string; resultType: string }
ParseError = { code: -32700; data?: unknown; message: string }
ProgressNotificationParams = { _meta?: NotificationMetaObject; message?: string; progress: number;
  progressToken: ProgressToken; total?: number }
Prompt = { _meta?: MetaObject; arguments?: PromptArgument[]; description?: string; icons?: Icon[]; name: string;
  title?: string }
ReadResourceRequestParams = { _meta: RequestMetaObject; inputResponses?: InputResponses; requestState?: string;
  uri: uri }
ReadResourceResult = { _meta?: ResultMetaObject; cacheScope: "private" | "public"; contents: (TextResourceContents |
  BlobResourceContents)[]; resultType: string; ttlMs: integer<0..> }
ReadResourceResultResponse = { id: RequestId; jsonrpc: "2.0"; result: InputRequiredResult | ReadResourceResult }
RequestMetaObject = { "io.modelcontextprotocol/clientCapabilities": ClientCapabilities;
  "io.modelcontextprotocol/clientInfo"?: Implementation; "io.modelcontextprotocol/logLevel"?: LoggingLevel;
  "io.modelcontextprotocol/protocolVersion": string; progressToken?: ProgressToken }
RequestParams = { _meta: RequestMetaObject }
Resource = { _meta?: MetaObject; annotations?: Annotations; description?: string; icons?: Icon[]; mimeType?: string;
  name: string; size?: integer; title?: string; uri: uri }
ResourceContents = { _meta?: MetaObject; mimeType?: string; uri: uri }
ResourceLink = { _meta?: MetaObject; annotations?: Annotations; description?: string; icons?: Icon[]; mimeType?: string;
  name: string; size?: integer; title?: string; type: "resource_link"; uri: uri }
ResourceRequestParams = { _meta: RequestMetaObject; uri: uri }
ResourceTemplate = { _meta?: MetaObject; annotations?: Annotations; description?: string; icons?: Icon[];
  mimeType?: string; name: string; title?: string; uriTemplate: uriTemplate }
ResourceUpdatedNotificationParams = { _meta?: NotificationMetaObject; uri: uri }
Result = { _meta?: ResultMetaObject; resultType: string }
ResultMetaObject = { "io.modelcontextprotocol/serverInfo"?: Implementation }
ResultType = string
Root = { _meta?: MetaObject; name?: string; uri: uri }
SamplingMessage = { _meta?: MetaObject; content: TextContent | ImageContent | AudioContent | ToolUseContent |
  ToolResultContent | SamplingMessageContentBlock[]; role: Role }
ServerCapabilities = { completions?: JSONObject; experimental?: { *: JSONObject }; extensions?: { *: JSONObject };
  logging?: JSONObject; prompts?: { listChanged?: boolean }; resources?: { listChanged?: boolean; subscribe?: boolean };
  tools?: { listChanged?: boolean } }
ServerNotification = CancelledNotification | ProgressNotification | ResourceListChangedNotification |
  SubscriptionsAcknowledgedNotification | ResourceUpdatedNotification | PromptListChangedNotification |
  ToolListChangedNotification | LoggingMessageNotification
ServerResult = Result | InputRequiredResult | DiscoverResult | ListResourcesResult | ListResourceTemplatesResult |
  ReadResourceResult | SubscriptionsListenResult | ListPromptsResult | GetPromptResult | ListToolsResult |
  CallToolResult | CompleteResult
SubscriptionFilter = { promptsListChanged?: boolean; resourceSubscriptions?: string[]; resourcesListChanged?: boolean;
  toolsListChanged?: boolean }
SubscriptionsAcknowledgedNotification = { jsonrpc: "2.0"; method: "notifications/subscriptions/acknowledged";
  params: SubscriptionsAcknowledgedNotificationParams }
SubscriptionsAcknowledgedNotificationParams = { _meta?: NotificationMetaObject; notifications: SubscriptionFilter }
SubscriptionsListenRequest = { id: RequestId; jsonrpc: "2.0"; method: "subscriptions/listen";
  params: SubscriptionsListenRequestParams }
SubscriptionsListenRequestParams = { _meta: RequestMetaObject; notifications: SubscriptionFilter }
SubscriptionsListenResult = { _meta: SubscriptionsListenResultMetaObject; resultType: string }
SubscriptionsListenResultMetaObject = { "io.modelcontextprotocol/serverInfo"?: Implementation;
  "io.modelcontextprotocol/subscriptionId": RequestId }
SubscriptionsListenResultResponse = { id: RequestId; jsonrpc: "2.0"; result: SubscriptionsListenResult }
TextContent = { _meta?: MetaObject; annotations?: Annotations; text: string; type: "text" }
TextResourceContents = { _meta?: MetaObject; mimeType?: string; text: string; uri: uri }
Tool = { _meta?: MetaObject; annotations?: ToolAnnotations; description?: string; icons?: Icon[];
  inputSchema: { $schema?: string; type: "object" }; name: string; outputSchema?: { $schema?: string }; title?: string }
ToolResultContent = { _meta?: MetaObject; content: ContentBlock[]; isError?: boolean; structuredContent?: unknown;
  toolUseId: string; type: "tool_result" }
ToolUseContent = { _meta?: MetaObject; id: string; input: object; name: string; type: "tool_use" }
UnsupportedProtocolVersionError = { error: Error & { code: -32022; data: { requested: string; supported: string[] } };
  id?: RequestId; jsonrpc: "2.0" }
`;
