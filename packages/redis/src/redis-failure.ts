import { StorageFailure, type StorageFailureReason } from "@parley/mcp/storage";

/** An error text of Redis or of its client, and the failure to report for it. */
interface KnownError {
  readonly pattern: RegExp;
  readonly reason: StorageFailureReason;
  readonly message: string;
  readonly fix: string;
}

/** Errors of Redis and of its client, recognized by their text. Redis has no error codes except the first word. */
const KNOWN_ERRORS: readonly KnownError[] = [
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
    fix: "Check the log of Redis: usually its disk is full or its directory is not writable.",
  },
  {
    pattern: /^(LOADING|BUSY|CLUSTERDOWN|TRYAGAIN|MASTERDOWN|NOREPLICAS)\b/,
    reason: "unavailable",
    message: "Redis cannot serve requests now: it is loading, busy with a script, or some of its servers are missing.",
    fix: "Wait until it has recovered; its log and `CLUSTER INFO` show more.",
  },
  {
    pattern: /max number of clients/,
    reason: "unavailable",
    message: "Redis accepts no more connections.",
    fix: "Raise `maxclients` of Redis, or close unused connections.",
  },
  {
    pattern: /^(NOAUTH|WRONGPASS)|invalid password|without any password configured/i,
    reason: "unavailable",
    message: "Redis rejected the user name or the password.",
    fix: "Correct `username` and `password` of redisStorage, or those in its `url`.",
  },
  {
    pattern: /^NOPERM|-NOPERM/,
    reason: "unavailable",
    message: "The Redis user lacks a permission.",
    fix: "Grant the user access to keys and channels under the prefix, and to the commands that docs/storage.md lists.",
  },
  {
    pattern: /^WRONGTYPE|-WRONGTYPE/,
    reason: "corrupt",
    message: "A key under the prefix holds a value that this storage did not write.",
    fix: "Set `prefix` of redisStorage to a value that nothing else uses.",
  },
  {
    pattern: /^ERR unknown (sub)?command|^ERR.*cluster support disabled|^NOPROTO/i,
    reason: "unsupported",
    message: "This server lacks a command that the storage needs.",
    fix: "Use Redis 6.2 or later, or Valkey; pass `nodes` for a cluster and `url` for one server.",
  },
  {
    pattern: /Unknown RESP type/i,
    reason: "unsupported",
    message: "The server at this address is not Redis.",
    fix: "Check host and port, and use `rediss:` if the server expects TLS.",
  },
  {
    pattern: /CROSSSLOT|^MOVED|^ASK |MaxCommandRedirections/,
    reason: "unsupported",
    message: "This Redis is part of a cluster.",
    fix: "Pass the addresses of the cluster as `nodes` instead of `url`.",
  },
];

/** Errors after which the command was certainly not executed and a retry may succeed. */
const TRANSIENT =
  /^(LOADING|CLUSTERDOWN|TRYAGAIN|MASTERDOWN|BUSY)|client is (offline|closed)|None of the root nodes is available/i;

/**
 * Errors of a server that is not the primary. After a failover, a new connection to the same address may reach the
 * primary.
 */
const NOT_PRIMARY = /^READONLY|-READONLY|^(MASTERDOWN|LOADING|NOREPLICAS)\b/;

export function isNotPrimary(error: Error): boolean {
  return NOT_PRIMARY.test(error.message);
}

export function isTransient(error: Error): boolean {
  return TRANSIENT.test(error.message) || /^Client(Offline|Closed)Error$/.test(error.constructor.name);
}

/**
 * True if the server sent this error. Checked by name, because the client may come from another copy of its package.
 */
export function isReply(error: Error): boolean {
  return /^(Simple|Blob)Error$|ErrorReply$/.test(error.constructor.name);
}

/** True if a cluster reports that a key is on another server. */
export function isRedirection(error: Error): boolean {
  return /^(MOVED|ASK) /.test(error.message);
}

export function isFull(error: Error): boolean {
  return /^OOM |-OOM |OOM command not allowed/.test(error.message);
}

/** Converts an error of Redis or of its client to a failure. `place` names the server without credentials. */
export function toFailure(error: Error, place: string): StorageFailure {
  const known = KNOWN_ERRORS.find(({ pattern }) => pattern.test(error.message));
  if (known !== undefined) {
    return new StorageFailure(known.reason, `${known.message} (${place})`, known.fix, { cause: error });
  }
  const text = error.message === "" ? error.name : error.message;
  if (isReply(error)) {
    return new StorageFailure(
      "unsupported",
      `Redis at ${place} rejected a command (${text.slice(0, 200)}).`,
      "Look the error up in the documentation of Redis; the storage needs Redis 6.2 or later, or Valkey.",
      { cause: error },
    );
  }
  return new StorageFailure(
    "unavailable",
    `Redis at ${place} cannot be reached or has closed the connection (${text.slice(0, 200)}).`,
    "Check that it runs and that its address is right; the storage reconnects by itself.",
    { cause: error },
  );
}

/** Creates the failure of a call that timed out: Redis was not reachable, or did not reply. */
export function timeoutFailure(ms: number, place: string, wasSent: boolean, cause: Error | undefined): StorageFailure {
  if (!wasSent && cause !== undefined) return toFailure(cause, place);
  return new StorageFailure(
    wasSent ? "timeout" : "unavailable",
    wasSent
      ? `Redis at ${place} did not answer within ${ms} ms.`
      : `Redis at ${place} could not be reached within ${ms} ms.`,
    "Check the load and the network of Redis, or raise `timeoutMs` of redisStorage.",
    cause === undefined ? undefined : { cause },
  );
}
