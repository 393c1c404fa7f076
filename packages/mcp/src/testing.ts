export { delayedStorage } from "./storage/delayed-storage.js";
export { type ContractClock, type StorageCase, storageContract } from "./storage/test-kit.js";
export { type ChannelPair, type MakePair, type TransportCase, transportContract } from "./testing/transport-kit.js";
export { channelPair } from "./transport/in-memory.js";
