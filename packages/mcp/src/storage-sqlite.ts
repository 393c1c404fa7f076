export { type SqliteStorage, type SqliteStorageOptions, sqliteStorage } from "./node/sqlite/sqlite-storage.js";
