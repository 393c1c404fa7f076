import { callHook } from "../../platform/call-hook.js";
import { runWithin } from "../../platform/run-within.js";
import type { TraceContext } from "../../protocol/trace-context.js";
import type { ServerCall } from "../call/server-call.js";
import type { QuestionEnded, QuestionFollower, QuestionStarted } from "../observer.js";

/** A question that is followed. */
export interface FollowedQuestion {
  /** The trace to send with it. */
  readonly trace: TraceContext | undefined;
  /** Sends it and tells how it ended. */
  send(ask: () => Promise<unknown>): Promise<unknown>;
}

/** Tells those who follow a call of a question that is about to be sent; undefined if none of them wants to follow it. */
export function followQuestion(call: ServerCall, started: QuestionStarted): FollowedQuestion | undefined {
  const { platform } = call.facts;
  const followers: QuestionFollower[] = [];
  for (const ofCall of call.followers ?? []) {
    callHook(platform, "question", () => {
      const follower = ofCall.question?.(started);
      if (follower !== undefined) followers.push(follower);
      return follower;
    });
  }
  if (followers.length === 0) return undefined;
  return {
    trace: followers.find(({ trace }) => trace !== undefined)?.trace,
    send(ask) {
      const since = platform.monotonic();
      const end = (outcome: QuestionEnded["outcome"], error?: unknown) => {
        const ended: QuestionEnded = { ...started, durationMs: platform.monotonic() - since, outcome, error };
        for (const follower of followers) callHook(platform, "ended", () => follower.ended?.(ended));
      };
      return runWithin(platform, followers, ask).then(
        (answer) => {
          end("ok");
          return answer;
        },
        (error: unknown) => {
          end("error", error);
          throw error;
        },
      );
    },
  };
}
