import { appendLogCases } from "./append-log-cases.js";
import type { ContractClock, StorageCase } from "./contract-case.js";
import { keyValueCases } from "./key-value-cases.js";
import { pubSubCases } from "./pub-sub-cases.js";

export type { ContractClock, StorageCase };

/**
 * Returns the storage contract as a list of cases, for any test framework.
 *
 * Pass each case a new, empty storage and, if it is `timed`, a clock. If several processes can share the store, also
 * pass a second handle on it. The name of a case that throws is the rule that the storage breaks.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/testing.md | Testing}
 */
export function storageContract(): StorageCase[] {
  return [
    ...keyValueCases.map((item) => named("key-value", item)),
    ...appendLogCases.map((item) => named("append log", item)),
    ...pubSubCases.map((item) => named("pub/sub", item)),
  ];
}

function named(part: string, item: StorageCase): StorageCase {
  return { ...item, name: `${part}: ${item.name}` };
}
