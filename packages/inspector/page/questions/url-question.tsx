import { type ElicitRequestURLParams, printable } from "@parley/mcp/protocol";
import { useState } from "preact/hooks";
import type { QuestionInfo } from "../../src/contract/questions.js";
import { AddressView } from "../parts/address-view.js";
import { openOutside, outsideAddress } from "../parts/outside-address.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAnswer } from "./answer-question.js";
import { RefusalButtons } from "./refusal-buttons.js";

interface UrlQuestionProps {
  readonly info: QuestionInfo;
  readonly params: ElicitRequestURLParams;
}

/** A URL elicitation. Shows the full URL, and opens it only on a click. */
export function UrlQuestion({ info, params }: UrlQuestionProps) {
  const { answer, busy, problem } = useAnswer(info);
  const [opened, setOpened] = useState(false);
  const open = () => {
    setOpened(true);
    openOutside(params.url);
  };
  return (
    <div class="questions-body">
      <p class="questions-message">{printable(params.message)}</p>
      <p>The server asks you to visit this URL:</p>
      <AddressView address={params.url} />
      {problem !== undefined && <ProblemNote problem={problem} />}
      <div class="parts-actions">
        <button
          type="button"
          class={opened ? "" : "main"}
          disabled={outsideAddress(params.url) === undefined}
          onClick={open}
        >
          Open in a new tab
        </button>
        <button
          type="button"
          class={opened ? "main" : ""}
          aria-disabled={busy}
          onClick={() => answer({ action: "accept" })}
        >
          Accept
        </button>
        <RefusalButtons answer={answer} busy={busy} />
      </div>
    </div>
  );
}
