import { here, one, onRuntime, type Suite } from "../contender.js";
import { httpLoad, httpSessionLoad } from "../measure/http-load.js";

const onSqlite: Suite = {
  id: "storage-sqlite",
  measure: httpSessionLoad,
  warmUp: true,
  contenders: [
    one("memory", "Parley in memory", here("parley-storage.ts", "none"), "2025"),
    one("parley", "Parley on SQLite", here("parley-storage.ts", "sqlite"), "2025"),
  ],
};

const cores = (id: string, measure: Suite["measure"], storage: string, era: "2025" | "2026"): Suite => ({
  id,
  measure,
  warmUp: true,
  contenders: [
    one("single", "Parley, one process", here("parley-storage.ts", storage), era),
    one("parley", "Parley, two processes", here("parley-storage.ts", storage, "2"), era),
  ],
});

/** State outside the process, and several processes on one port. */
export const STORAGE_SUITES: readonly Suite[] = [
  // The default Node has no SQLite; both sides run on one that has it.
  onRuntime("node24", "storage-sqlite", onSqlite),
  {
    id: "storage-redis",
    measure: httpSessionLoad,
    warmUp: true,
    contenders: [
      one("memory", "Parley in memory", here("parley-storage.ts", "none"), "2025"),
      one("parley", "Parley on Redis, which has no core of its own", here("parley-storage.ts", "redis"), "2025"),
    ],
  },
  {
    id: "storage-stateless",
    measure: httpLoad,
    warmUp: true,
    contenders: [
      one("memory", "Parley without a storage", here("parley-storage.ts", "none"), "2026"),
      one("parley", "Parley with Redis set", here("parley-storage.ts", "redis"), "2026"),
    ],
  },
  cores("storage-cores", httpLoad, "none", "2026"),
  onRuntime("node24", "storage-cores-session", cores("storage-cores-session", httpSessionLoad, "sqlite", "2025")),
];
