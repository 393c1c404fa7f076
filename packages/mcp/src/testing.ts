export { type ContractClock, type StorageCase, storageContract } from "./storage/contract/storage-contract.js";
export { delayedStorage } from "./storage/delayed-storage.js";
export { type ChaosOptions, type ChaosTransport, chaosTransport } from "./testing/chaos-transport.js";
export { type FakeClock, fakeClock } from "./testing/fake-clock.js";
export {
  type RecordedTransport,
  type RecordedTransportOptions,
  recordedTransport,
  type SentMessage,
} from "./testing/recorded-transport.js";
export { type ChannelPair, type MakePair, type TransportCase, transportContract } from "./testing/transport-kit.js";
export { channelPair } from "./transport/channel/channel-pair.js";
