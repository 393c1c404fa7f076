import { useState } from "preact/hooks";
import { announce } from "./announcer.js";
import { copyText } from "./copy-text.js";

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for those who do not see what the button stands beside. */
  readonly label: string;
}

/** A button that copies a text, and says whether it could. */
export function CopyButton({ text, label }: CopyButtonProps) {
  const [state, setState] = useState("Copy");
  const copy = () => {
    const tell = (state: string) => {
      setState(state);
      announce(`${label}: ${state.toLowerCase()}`);
    };
    copyText(text).then(
      () => tell("Copied"),
      () => tell("Not allowed to copy"),
    );
  };
  return (
    <button type="button" class="quiet parts-copy" aria-label={`${state}: ${label}`} onClick={copy}>
      {state}
    </button>
  );
}
