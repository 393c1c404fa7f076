// Written by scripts/message-shapes.mjs.
/** The definitions that 2025-11-25 adds, changes or removes (`-`) relative to 2025-06-18. */
export const SHAPES_2025_11_25 = `
JSONRPCError -
CallToolRequest = { id: RequestId; jsonrpc: "2.0"; method: "tools/call"; params: CallToolRequestParams }
CallToolRequestParams = { _meta?: { progressToken?: ProgressToken }; arguments?: object; name: string;
  task?: TaskMetadata }
CancelTaskRequest = { id: RequestId; jsonrpc: "2.0"; method: "tasks/cancel"; params: { taskId: string } }
CancelTaskResult = Result & Task
CancelledNotification = { jsonrpc: "2.0"; method: "notifications/cancelled"; params: CancelledNotificationParams }
CancelledNotificationParams = { _meta?: object; reason?: string; requestId?: RequestId }
ClientCapabilities = { elicitation?: { form?: object; url?: object }; experimental?: { *: object };
  roots?: { listChanged?: boolean }; sampling?: { context?: object; tools?: object }; tasks?: { cancel?: object;
  list?: object; requests?: { elicitation?: { create?: object }; sampling?: { createMessage?: object } } } }
ClientNotification = CancelledNotification | InitializedNotification | ProgressNotification | TaskStatusNotification |
  RootsListChangedNotification
ClientRequest = InitializeRequest | PingRequest | ListResourcesRequest | ListResourceTemplatesRequest |
  ReadResourceRequest | SubscribeRequest | UnsubscribeRequest | ListPromptsRequest | GetPromptRequest |
  ListToolsRequest | CallToolRequest | GetTaskRequest | GetTaskPayloadRequest | CancelTaskRequest | ListTasksRequest |
  SetLevelRequest | CompleteRequest
ClientResult = Result | GetTaskResult | GetTaskPayloadResult | CancelTaskResult | ListTasksResult |
  CreateMessageResult | ListRootsResult | ElicitResult
CompleteRequest = { id: RequestId; jsonrpc: "2.0"; method: "completion/complete"; params: CompleteRequestParams }
CompleteRequestParams = { _meta?: { progressToken?: ProgressToken }; argument: { name: string; value: string };
  context?: { arguments?: { *: string } }; ref: PromptReference | ResourceTemplateReference }
CreateMessageRequest = { id: RequestId; jsonrpc: "2.0"; method: "sampling/createMessage";
  params: CreateMessageRequestParams }
CreateMessageRequestParams = { _meta?: { progressToken?: ProgressToken }; includeContext?: "allServers" | "none" |
  "thisServer"; maxTokens: integer; messages: SamplingMessage[]; metadata?: object; modelPreferences?: ModelPreferences;
  stopSequences?: string[]; systemPrompt?: string; task?: TaskMetadata; temperature?: number; toolChoice?: ToolChoice;
  tools?: Tool[] }
CreateMessageResult = { _meta?: object; content: TextContent | ImageContent | AudioContent | ToolUseContent |
  ToolResultContent | SamplingMessageContentBlock[]; model: string; role: Role; stopReason?: string }
CreateTaskResult = { _meta?: object; task: Task }
ElicitRequest = { id: RequestId; jsonrpc: "2.0"; method: "elicitation/create"; params: ElicitRequestParams }
ElicitRequestFormParams = { _meta?: { progressToken?: ProgressToken }; message: string; mode?: "form";
  requestedSchema: { $schema?: string; properties: { *: PrimitiveSchemaDefinition }; required?: string[];
  type: "object" }; task?: TaskMetadata }
ElicitRequestParams = ElicitRequestURLParams | ElicitRequestFormParams
ElicitRequestURLParams = { _meta?: { progressToken?: ProgressToken }; elicitationId: string; message: string;
  mode: "url"; task?: TaskMetadata; url: uri }
ElicitResult = { _meta?: object; action: "accept" | "cancel" | "decline"; content?: { *: string[] | string | number |
  boolean } }
ElicitationCompleteNotification = { jsonrpc: "2.0"; method: "notifications/elicitation/complete";
  params: { elicitationId: string } }
EnumSchema = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema | UntitledMultiSelectEnumSchema |
  TitledMultiSelectEnumSchema | LegacyTitledEnumSchema
Error = { code: integer; data?: unknown; message: string }
GetPromptRequest = { id: RequestId; jsonrpc: "2.0"; method: "prompts/get"; params: GetPromptRequestParams }
GetPromptRequestParams = { _meta?: { progressToken?: ProgressToken }; arguments?: { *: string }; name: string }
GetTaskPayloadRequest = { id: RequestId; jsonrpc: "2.0"; method: "tasks/result"; params: { taskId: string } }
GetTaskPayloadResult = { _meta?: object }
GetTaskRequest = { id: RequestId; jsonrpc: "2.0"; method: "tasks/get"; params: { taskId: string } }
GetTaskResult = Result & Task
Icon = { mimeType?: string; sizes?: string[]; src: uri; theme?: "dark" | "light" }
Icons = { icons?: Icon[] }
Implementation = { description?: string; icons?: Icon[]; name: string; title?: string; version: string;
  websiteUrl?: uri }
InitializeRequest = { id: RequestId; jsonrpc: "2.0"; method: "initialize"; params: InitializeRequestParams }
InitializeRequestParams = { _meta?: { progressToken?: ProgressToken }; capabilities: ClientCapabilities;
  clientInfo: Implementation; protocolVersion: string }
InitializedNotification = { jsonrpc: "2.0"; method: "notifications/initialized"; params?: NotificationParams }
JSONRPCErrorResponse = { error: Error; id?: RequestId; jsonrpc: "2.0" }
JSONRPCMessage = JSONRPCRequest | JSONRPCNotification | JSONRPCResultResponse | JSONRPCErrorResponse
JSONRPCNotification = { jsonrpc: "2.0"; method: string; params?: object }
JSONRPCRequest = { id: RequestId; jsonrpc: "2.0"; method: string; params?: object }
JSONRPCResponse = JSONRPCResultResponse | JSONRPCErrorResponse
JSONRPCResultResponse = { id: RequestId; jsonrpc: "2.0"; result: Result }
LegacyTitledEnumSchema = { default?: string; description?: string; enum: string[]; enumNames?: string[]; title?: string;
  type: "string" }
ListPromptsRequest = { id: RequestId; jsonrpc: "2.0"; method: "prompts/list"; params?: PaginatedRequestParams }
ListResourceTemplatesRequest = { id: RequestId; jsonrpc: "2.0"; method: "resources/templates/list";
  params?: PaginatedRequestParams }
ListResourcesRequest = { id: RequestId; jsonrpc: "2.0"; method: "resources/list"; params?: PaginatedRequestParams }
ListRootsRequest = { id: RequestId; jsonrpc: "2.0"; method: "roots/list"; params?: RequestParams }
ListTasksRequest = { id: RequestId; jsonrpc: "2.0"; method: "tasks/list"; params?: PaginatedRequestParams }
ListTasksResult = { _meta?: object; nextCursor?: string; tasks: Task[] }
ListToolsRequest = { id: RequestId; jsonrpc: "2.0"; method: "tools/list"; params?: PaginatedRequestParams }
LoggingMessageNotification = { jsonrpc: "2.0"; method: "notifications/message";
  params: LoggingMessageNotificationParams }
LoggingMessageNotificationParams = { _meta?: object; data: unknown; level: LoggingLevel; logger?: string }
MultiSelectEnumSchema = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema
Notification = { method: string; params?: object }
NotificationParams = { _meta?: object }
NumberSchema = { default?: number; description?: string; maximum?: number; minimum?: number; title?: string;
  type: "integer" | "number" }
PaginatedRequest = { id: RequestId; jsonrpc: "2.0"; method: string; params?: PaginatedRequestParams }
PaginatedRequestParams = { _meta?: { progressToken?: ProgressToken }; cursor?: string }
PingRequest = { id: RequestId; jsonrpc: "2.0"; method: "ping"; params?: RequestParams }
PrimitiveSchemaDefinition = StringSchema | NumberSchema | BooleanSchema | UntitledSingleSelectEnumSchema |
  TitledSingleSelectEnumSchema | UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema | LegacyTitledEnumSchema
ProgressNotification = { jsonrpc: "2.0"; method: "notifications/progress"; params: ProgressNotificationParams }
ProgressNotificationParams = { _meta?: object; message?: string; progress: number; progressToken: ProgressToken;
  total?: number }
Prompt = { _meta?: object; arguments?: PromptArgument[]; description?: string; icons?: Icon[]; name: string;
  title?: string }
PromptListChangedNotification = { jsonrpc: "2.0"; method: "notifications/prompts/list_changed";
  params?: NotificationParams }
ReadResourceRequest = { id: RequestId; jsonrpc: "2.0"; method: "resources/read"; params: ReadResourceRequestParams }
ReadResourceRequestParams = { _meta?: { progressToken?: ProgressToken }; uri: uri }
RelatedTaskMetadata = { taskId: string }
Request = { method: string; params?: object }
RequestParams = { _meta?: { progressToken?: ProgressToken } }
Resource = { _meta?: object; annotations?: Annotations; description?: string; icons?: Icon[]; mimeType?: string;
  name: string; size?: integer; title?: string; uri: uri }
ResourceLink = { _meta?: object; annotations?: Annotations; description?: string; icons?: Icon[]; mimeType?: string;
  name: string; size?: integer; title?: string; type: "resource_link"; uri: uri }
ResourceListChangedNotification = { jsonrpc: "2.0"; method: "notifications/resources/list_changed";
  params?: NotificationParams }
ResourceRequestParams = { _meta?: { progressToken?: ProgressToken }; uri: uri }
ResourceTemplate = { _meta?: object; annotations?: Annotations; description?: string; icons?: Icon[]; mimeType?: string;
  name: string; title?: string; uriTemplate: uriTemplate }
ResourceUpdatedNotification = { jsonrpc: "2.0"; method: "notifications/resources/updated";
  params: ResourceUpdatedNotificationParams }
ResourceUpdatedNotificationParams = { _meta?: object; uri: uri }
RootsListChangedNotification = { jsonrpc: "2.0"; method: "notifications/roots/list_changed";
  params?: NotificationParams }
SamplingMessage = { _meta?: object; content: TextContent | ImageContent | AudioContent | ToolUseContent |
  ToolResultContent | SamplingMessageContentBlock[]; role: Role }
SamplingMessageContentBlock = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent
ServerCapabilities = { completions?: object; experimental?: { *: object }; logging?: object;
  prompts?: { listChanged?: boolean }; resources?: { listChanged?: boolean; subscribe?: boolean };
  tasks?: { cancel?: object; list?: object; requests?: { tools?: { call?: object } } };
  tools?: { listChanged?: boolean } }
ServerNotification = CancelledNotification | ProgressNotification | ResourceListChangedNotification |
  ResourceUpdatedNotification | PromptListChangedNotification | ToolListChangedNotification | TaskStatusNotification |
  LoggingMessageNotification | ElicitationCompleteNotification
ServerRequest = PingRequest | GetTaskRequest | GetTaskPayloadRequest | CancelTaskRequest | ListTasksRequest |
  CreateMessageRequest | ListRootsRequest | ElicitRequest
ServerResult = Result | InitializeResult | ListResourcesResult | ListResourceTemplatesResult | ReadResourceResult |
  ListPromptsResult | GetPromptResult | ListToolsResult | CallToolResult | GetTaskResult | GetTaskPayloadResult |
  CancelTaskResult | ListTasksResult | CompleteResult
SetLevelRequest = { id: RequestId; jsonrpc: "2.0"; method: "logging/setLevel"; params: SetLevelRequestParams }
SetLevelRequestParams = { _meta?: { progressToken?: ProgressToken }; level: LoggingLevel }
SingleSelectEnumSchema = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema
StringSchema = { default?: string; description?: string; format?: "date" | "date-time" | "email" | "uri";
  maxLength?: integer; minLength?: integer; title?: string; type: "string" }
SubscribeRequest = { id: RequestId; jsonrpc: "2.0"; method: "resources/subscribe"; params: SubscribeRequestParams }
SubscribeRequestParams = { _meta?: { progressToken?: ProgressToken }; uri: uri }
Task = { createdAt: string; lastUpdatedAt: string; pollInterval?: integer; status: TaskStatus; statusMessage?: string;
  taskId: string; ttl: integer | null }
TaskAugmentedRequestParams = { _meta?: { progressToken?: ProgressToken }; task?: TaskMetadata }
TaskMetadata = { ttl?: integer }
TaskStatus = "cancelled" | "completed" | "failed" | "input_required" | "working"
TaskStatusNotification = { jsonrpc: "2.0"; method: "notifications/tasks/status"; params: TaskStatusNotificationParams }
TaskStatusNotificationParams = NotificationParams & Task
TitledMultiSelectEnumSchema = { default?: string[]; description?: string; items: { anyOf: { const: string;
  title: string }[] }; maxItems?: integer; minItems?: integer; title?: string; type: "array" }
TitledSingleSelectEnumSchema = { default?: string; description?: string; oneOf: { const: string; title: string }[];
  title?: string; type: "string" }
Tool = { _meta?: object; annotations?: ToolAnnotations; description?: string; execution?: ToolExecution; icons?: Icon[];
  inputSchema: { $schema?: string; properties?: { *: object }; required?: string[]; type: "object" }; name: string;
  outputSchema?: { $schema?: string; properties?: { *: object }; required?: string[]; type: "object" }; title?: string }
ToolChoice = { mode?: "auto" | "none" | "required" }
ToolExecution = { taskSupport?: "forbidden" | "optional" | "required" }
ToolListChangedNotification = { jsonrpc: "2.0"; method: "notifications/tools/list_changed";
  params?: NotificationParams }
ToolResultContent = { _meta?: object; content: ContentBlock[]; isError?: boolean; structuredContent?: object;
  toolUseId: string; type: "tool_result" }
ToolUseContent = { _meta?: object; id: string; input: object; name: string; type: "tool_use" }
URLElicitationRequiredError = { error: Error & { code: -32042; data: { elicitations: ElicitRequestURLParams[] } };
  id?: RequestId; jsonrpc: "2.0" }
UnsubscribeRequest = { id: RequestId; jsonrpc: "2.0"; method: "resources/unsubscribe";
  params: UnsubscribeRequestParams }
UnsubscribeRequestParams = { _meta?: { progressToken?: ProgressToken }; uri: uri }
UntitledMultiSelectEnumSchema = { default?: string[]; description?: string; items: { enum: string[]; type: "string" };
  maxItems?: integer; minItems?: integer; title?: string; type: "array" }
UntitledSingleSelectEnumSchema = { default?: string; description?: string; enum: string[]; title?: string;
  type: "string" }
`;
