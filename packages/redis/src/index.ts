export type { ConfiguredClient } from "./redis-client.js";
export type { RedisStorageOptions } from "./redis-options.js";
export { type RedisStorage, redisStorage } from "./redis-storage.js";
