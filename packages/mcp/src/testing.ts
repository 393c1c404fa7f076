export { delayedStorage } from "./storage/delayed-storage.js";
export { type ContractClock, type StorageCase, storageContract } from "./storage/test-kit.js";
export { type ChaosOptions, type ChaosTransport, chaosTransport } from "./testing/chaos-transport.js";
export { type FakeClock, fakeClock } from "./testing/fake-clock.js";
export { type ChannelPair, type MakePair, type TransportCase, transportContract } from "./testing/transport-kit.js";
export { channelPair } from "./transport/channel/in-memory.js";
