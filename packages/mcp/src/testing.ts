export { type ChannelPair, type MakePair, type TransportCase, transportContract } from "./testing/transport-kit.js";
export { channelPair } from "./transport/in-memory.js";
