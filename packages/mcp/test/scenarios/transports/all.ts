import { gateways } from "./gateway.js";
import { httpFetch } from "./http-fetch.js";
import { httpNode } from "./http-node.js";
import { inMemory } from "./in-memory.js";
import { messagePort } from "./message-port.js";
import { tcp, unixSocket, webSocket } from "./sockets.js";
import { stdio } from "./stdio.js";
import type { TransportUnderTest } from "./transport-under-test.js";

/** Every transport that the grid runs over; a new one is added here and nowhere else. */
export const TRANSPORTS: readonly TransportUnderTest[] = [
  inMemory,
  httpFetch,
  httpNode,
  stdio,
  tcp,
  unixSocket,
  webSocket,
  messagePort,
  ...gateways,
];
