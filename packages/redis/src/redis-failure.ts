import { StorageFailure, type StorageFailureReason } from "@parley/mcp/storage";

interface Meaning {
  readonly pattern: RegExp;
  readonly reason: StorageFailureReason;
  readonly message: string;
  readonly fix: string;
}

/** What the errors of Redis and of its client mean, by their texts: Redis has no codes but their first words. */
const MEANINGS: readonly Meaning[] = [
  {
    pattern: /^READONLY|-READONLY/,
    reason: "read-only",
    message: "This Redis is a read-only replica.",
    fix: "Connect to the primary, or wait until the failover has ended.",
  },
  {
    pattern: /^MISCONF|-MISCONF/,
    reason: "read-only",
    message: "Redis refuses writes because it cannot save its data.",
    fix: "See the log of Redis: mostly its disk is full or its directory cannot be written.",
  },
  {
    pattern: /^(LOADING|BUSY|CLUSTERDOWN|TRYAGAIN|MASTERDOWN|NOREPLICAS)\b/,
    reason: "unavailable",
    message: "Redis cannot serve this now: it is loading, busy with a script, or lacks a part of its servers.",
    fix: "Wait until it has recovered; its log and `CLUSTER INFO` say more.",
  },
  {
    pattern: /max number of clients/,
    reason: "unavailable",
    message: "Redis takes no more connections.",
    fix: "Raise `maxclients` of Redis, or end connections that nothing needs.",
  },
  {
    pattern: /^(NOAUTH|WRONGPASS)|invalid password|without any password configured/i,
    reason: "unavailable",
    message: "Redis has refused the user name or the password.",
    fix: "Correct `username` and `password` of redisStorage, or those in its `url`.",
  },
  {
    pattern: /^NOPERM|-NOPERM/,
    reason: "unavailable",
    message: "The user of Redis may not do this.",
    fix: "Allow the user keys and channels under the prefix, and the commands that docs/storage.md lists.",
  },
  {
    pattern: /^WRONGTYPE|-WRONGTYPE/,
    reason: "corrupt",
    message: "A key under the prefix holds something that this storage has not written.",
    fix: "Give redisStorage a `prefix` that nothing else uses.",
  },
  {
    pattern: /^ERR unknown (sub)?command|^ERR.*cluster support disabled|^NOPROTO/i,
    reason: "unsupported",
    message: "This server lacks a command that the storage needs.",
    fix: "Use Redis 6.2 or later, or Valkey; give `nodes` for a cluster and `url` for one server.",
  },
  {
    pattern: /Unknown RESP type/i,
    reason: "unsupported",
    message: "What answers at this address is not a Redis.",
    fix: "Check host and port, and write `rediss:` where the server expects TLS.",
  },
  {
    pattern: /CROSSSLOT|^MOVED|^ASK |MaxCommandRedirections/,
    reason: "unsupported",
    message: "This Redis is a part of a cluster.",
    fix: "Give the addresses of the cluster as `nodes` in place of `url`.",
  },
];

/** Errors after which a command was certainly not carried out, and may be by the next attempt. */
const TRANSIENT =
  /^(LOADING|CLUSTERDOWN|TRYAGAIN|MASTERDOWN|BUSY)|client is (offline|closed)|None of the root nodes is available/i;

/** Errors of a server that is not the primary now. After a failover, a new connection to the same address may reach the one that is. */
const NOT_PRIMARY = /^READONLY|-READONLY|^(MASTERDOWN|LOADING|NOREPLICAS)\b/;

export function isNotPrimary(error: Error): boolean {
  return NOT_PRIMARY.test(error.message);
}

export function isTransient(error: Error): boolean {
  return TRANSIENT.test(error.message) || /^Client(Offline|Closed)Error$/.test(error.constructor.name);
}

/** Whether the server itself has answered with this error. By name, since a client may come from another copy of its package. */
export function isReply(error: Error): boolean {
  return /^(Simple|Blob)Error$|ErrorReply$/.test(error.constructor.name);
}

/** Whether a cluster says that a key has another place. */
export function isRedirection(error: Error): boolean {
  return /^(MOVED|ASK) /.test(error.message);
}

export function isFull(error: Error): boolean {
  return /^OOM |-OOM |OOM command not allowed/.test(error.message);
}

/** The failure that an error of Redis or of its client stands for. `place` names the server without any secret. */
export function toFailure(error: Error, place: string): StorageFailure {
  const meaning = MEANINGS.find(({ pattern }) => pattern.test(error.message));
  if (meaning !== undefined) {
    return new StorageFailure(meaning.reason, `${meaning.message} (${place})`, meaning.fix, { cause: error });
  }
  const text = error.message === "" ? error.name : error.message;
  if (isReply(error)) {
    return new StorageFailure(
      "unsupported",
      `Redis at ${place} has refused a command (${text.slice(0, 200)}).`,
      "Look the error up in the documentation of Redis; the storage needs Redis 6.2 or later, or Valkey.",
      { cause: error },
    );
  }
  return new StorageFailure(
    "unavailable",
    `Redis at ${place} cannot be reached or has ended the connection (${text.slice(0, 200)}).`,
    "Check that it runs and that its address is right; the storage connects again by itself.",
    { cause: error },
  );
}

/** The failure of a call whose time is over: Redis was not reached, or has not answered. */
export function timeOut(ms: number, place: string, wasSent: boolean, cause: Error | undefined): StorageFailure {
  if (!wasSent && cause !== undefined) return toFailure(cause, place);
  return new StorageFailure(
    wasSent ? "timeout" : "unavailable",
    wasSent
      ? `Redis at ${place} has not answered within ${ms} ms.`
      : `There was no connection to Redis at ${place} within ${ms} ms.`,
    "Check the load and the network of Redis, or raise `timeoutMs` of redisStorage.",
    cause === undefined ? undefined : { cause },
  );
}
