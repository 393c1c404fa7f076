export { type HttpHandle, type ServeHttpOptions, serveHttp } from "./node/http.js";
export { type NodeHandler, nodeHandler } from "./node/http-handler.js";
export type { LaunchFailure, LaunchReportData } from "./node/launch-report.js";
export { type SocketAddress, type SocketTransportOptions, socketTransport } from "./node/socket-client.js";
export { type ServeSocketOptions, type SocketHandle, serveSocket } from "./node/socket-server.js";
export { type StdioOptions, stdioTransport } from "./node/stdio-client.js";
export { type ServeStdioOptions, serveStdio } from "./node/stdio-server.js";
export { type NodeWebSocketOptions, webSocketTransport } from "./node/websocket-client.js";
export { type ServeWebSocketOptions, serveWebSocket, type WebSocketHandle } from "./node/websocket-server.js";
