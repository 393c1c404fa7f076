import { Dialog } from "../parts/dialog.js";
import { helpShown } from "./shortcuts.js";
import { VIEW_LIST } from "./view-list.js";

const KEYS: readonly (readonly [keys: readonly string[], meaning: string])[] = [
  ...VIEW_LIST.map(({ key, title }, index) => [["g", key, "or", `Alt+${index + 1}`], `go to ${title}`] as const),
  [["/"], "search in the view; ↓ or Enter goes on to what is found"],
  [["↑", "↓", "or", "j", "k"], "move in a list"],
  [["Home", "End", "PageUp", "PageDown"], "move far in a list"],
  [["Enter"], "choose in a list"],
  [["←", "→"], "move between tabs"],
  [["Ctrl+Enter"], "run, read or accept what is being filled in"],
  [["Esc"], "close a dialog, empty a search"],
  [["?"], "show these keys"],
];

/** Explains all keys. */
export function HelpDialog() {
  if (!helpShown.value) return null;
  const close = () => {
    helpShown.value = false;
  };
  return (
    <Dialog title="Keys" onClose={close}>
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
