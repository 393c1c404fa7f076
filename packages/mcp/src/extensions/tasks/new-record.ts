import { storedCall } from "../../era/select/stored-call.js";
import { taskDialect } from "../../era/select/task-dialect.js";
import { mayBeStranger } from "../../server/call/call-failure.js";
import type { ExtensionCall } from "../seam/extended-server.js";
import type { TaskSettings } from "./task-options.js";
import type { TaskRecord } from "./task-record.js";
import type { TaskRules } from "./task-rules.js";

/** What the process that creates a task decides. */
interface Creation {
  readonly id: string;
  readonly node: string;
  readonly now: number;
}

/** The record of a call that becomes a task. */
export function newRecord(
  { request, exchange }: ExtensionCall,
  rules: TaskRules,
  settings: TaskSettings,
  { id, node, now }: Creation,
): TaskRecord {
  const { ttlMs, maxTtlMs, pollIntervalMs } = settings;
  const wanted = taskDialect(request.revision).wantedTtl(request.params);
  const principal = exchange.principal ?? exchange.peer?.principal;
  return {
    id,
    owner: principal?.key ?? null,
    createdAt: now,
    updatedAt: now,
    ttlMs: Math.min(Math.ceil(wanted ?? rules.ttlMs ?? ttlMs), Math.max(maxTtlMs, rules.ttlMs ?? 0)),
    pollIntervalMs: rules.pollIntervalMs ?? pollIntervalMs,
    status: "working",
    retry: rules.retry,
    lease: { node, token: 1 },
    call: storedCall(request, principal, mayBeStranger(exchange)),
    questions: {},
    answers: {},
    steps: {},
  };
}
