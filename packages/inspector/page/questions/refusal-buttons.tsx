import type { Answering } from "./answer-question.js";

/** The two ways not to answer what a server elicits. */
export function RefusalButtons({ answer }: Pick<Answering, "answer">) {
  return (
    <>
      <button type="button" onClick={() => answer({ action: "decline" })}>
        Decline
      </button>
      <button type="button" class="quiet" onClick={() => answer({ action: "cancel" })}>
        Cancel
      </button>
    </>
  );
}
