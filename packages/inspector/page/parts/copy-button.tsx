import { useState } from "preact/hooks";
import { announce } from "./announcer.js";
import { copyText } from "./copy-text.js";

interface CopyButtonProps {
  readonly text: string;
  /** The name of the copied text, for screen readers. */
  readonly label: string;
}

/** Copies a text and reports the outcome. */
export function CopyButton({ text, label }: CopyButtonProps) {
  const [state, setState] = useState("Copy");
  const copy = () => {
    const report = (state: string) => {
      setState(state);
      announce(`${label}: ${state.toLowerCase()}`);
    };
    copyText(text).then(
      () => report("Copied"),
      () => report("Copying blocked"),
    );
  };
  return (
    <button type="button" class="quiet parts-copy" aria-label={`${state}: ${label}`} onClick={copy}>
      {state}
    </button>
  );
}
