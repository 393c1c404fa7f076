import type { AnswerAction } from "./answer-question.js";

/** The two ways to reject an elicitation. */
export function RefusalButtons({ answer, busy }: Pick<AnswerAction, "answer" | "busy">) {
  return (
    <>
      <button type="button" aria-disabled={busy} onClick={() => answer({ action: "decline" })}>
        Decline
      </button>
      <button type="button" class="quiet" aria-disabled={busy} onClick={() => answer({ action: "cancel" })}>
        Cancel
      </button>
    </>
  );
}
