import type { Answering } from "./answer-question.js";

/** The two ways not to answer what a server elicits. */
export function RefusalButtons({ answer, busy }: Pick<Answering, "answer" | "busy">) {
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
