import { Dialog } from "../parts/dialog.js";
import { helpShown } from "./shortcuts.js";
import { VIEW_LIST } from "./view-list.js";

const KEYS: readonly (readonly [keys: readonly string[], meaning: string])[] = [
  ...VIEW_LIST.map(({ key, title }, index) => [["g", key, "or", `Alt+${index + 1}`], `go to ${title}`] as const),
  [["/"], "search; ↓ or Enter moves to the results"],
  [["↑", "↓", "or", "j", "k"], "move in a list"],
  [["Home", "End", "PageUp", "PageDown"], "jump in a list"],
  [["Enter"], "select in a list"],
  [["←", "→"], "move between tabs"],
  [["Ctrl+Enter"], "run, read or submit the current form"],
  [["Esc"], "close a dialog or clear a search"],
  [["?"], "show this list"],
];

/** Lists the keyboard shortcuts. */
export function HelpDialog() {
  if (!helpShown.value) return null;
  const close = () => {
    helpShown.value = false;
  };
  return (
    <Dialog title="Keyboard shortcuts" onClose={close}>
      <dl class="app-keys">
        {KEYS.map(([keys, meaning]) => (
          <div key={meaning}>
            <dt>{keys.map((key) => (key === "or" ? <span key={key}> or </span> : <kbd key={key}>{key}</kbd>))}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
