export { type CatalogueFile, catalogueFile } from "./node/catalogue-file.js";
export { type ConfigFile, type ReadConfigFileOptions, readConfigFile } from "./node/config/read-config-file.js";
export { publishDiagnostics } from "./node/diagnostics.js";
export { nodeHandler, serveHttp, serveSocket, serveWebSocket } from "./node/entry/on-demand.js";
export { watchEventLoop } from "./node/event-loop-delay.js";
export type { NodeHandler } from "./node/http/handler.js";
export { type NodeSenderOptions, nodeSender } from "./node/http/sender.js";
export type { ServeHttpOptions } from "./node/http/serve-http.js";
export {
  type IsolatedOptions,
  type IsolatedPool,
  type IsolatedPoolOptions,
  type IsolatedTool,
  isolated,
  isolatedPool,
  type PooledToolOptions,
} from "./node/isolate/isolated.js";
export { type SocketAddress, type SocketTransportOptions, socketTransport } from "./node/socket/socket-client.js";
export type { ServeSocketOptions, SocketHandle } from "./node/socket/socket-server.js";
export { type NodeWebSocketOptions, nodeWebSocketTransport } from "./node/socket/websocket-client.js";
export type { ServeWebSocketOptions } from "./node/socket/websocket-server.js";
export type { LaunchFailure, LaunchReportData } from "./node/stdio/launch-report.js";
export { type StdioOptions, stdioTransport } from "./node/stdio/stdio-client.js";
export { type ServeStdioOptions, serveStdio } from "./node/stdio/stdio-server.js";
export type { InspectHandle, InspectOptions } from "./platform/platform.js";
export type { ListeningHandle, ServeHandle } from "./transport/serve-handle.js";
