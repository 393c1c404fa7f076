/// <reference lib="esnext.disposable" preserve="true" />
export type { HttpTarget, TransportMaker } from "./client/connect.js";
export type { Principal } from "./http/authentication.js";
export type { Channel, ChannelReceiver } from "./jsonrpc/connection.js";
export type { Fetch, Platform } from "./platform/platform.js";
export { channelTransport } from "./transport/channel/client.js";
export { type MessagePortOptions, messagePortChannel, type PortLike } from "./transport/channel/message-port.js";
export type { QueueLimits } from "./transport/channel/outbox.js";
export { type ServeChannelOptions, type ServedChannel, serveChannel } from "./transport/channel/server.js";
export type { WebSocketLike } from "./transport/channel/websocket.js";
export {
  type OpenWebSocket,
  type WebSocketTransportOptions,
  webSocketTransport,
} from "./transport/channel/websocket-client.js";
export type { HttpTimeouts } from "./transport/http/client/client.js";
export { type HttpTransportOptions, httpTransport } from "./transport/http/client/http-transport.js";
export type { CommandTarget } from "./transport/runtime-transports.js";
export type { ListeningHandle, Servable, ServeHandle } from "./transport/serve-handle.js";
export type {
  Answer,
  Endpoint,
  EndReason,
  Exchange,
  Outgoing,
  Peer,
  Receiver,
  Transport,
} from "./transport/transport.js";
export type { WireMessage } from "./transport/watched-transport.js";
