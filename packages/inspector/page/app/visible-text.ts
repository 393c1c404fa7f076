import { printable } from "@parley/mcp/protocol";
import { options } from "preact";

/**
 * Characters that nothing is drawn for, so that a text can say more to a model than to its reader. Joiners and the selectors of
 * common variants stay: scripts and emoji need them.
 */
const UNSEEN = /(?!\u200c|\u200d|[\ufe00-\ufe0f])[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** A text with every character spelled out that hides, or turns or hides others: `\u202e`, `\u{e0041}`. */
export function visibleText(text: string): string {
  return printable(text).replace(UNSEEN, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
    return code.length > 4 ? `\\u{${code}}` : `\\u${code}`;
  });
}

/** Attributes that are shown or read aloud. */
const READ_ALOUD = ["title", "alt", "placeholder", "aria-label"] as const;

/**
 * Lets the page show no text but as `visibleText` spells it, whichever view it is of: servers write most of what is shown. What is
 * in fields stays as it is, because it is sent.
 */
export function showVisibleText(): void {
  const before = options.vnode;
  options.vnode = (vnode) => {
    // Of a text, which has no type, these are the text itself.
    const props: unknown = vnode.props;
    if (typeof props === "string") Object.assign(vnode, { props: visibleText(props) });
    else if (typeof vnode.type === "string") spellAttributes(vnode.props);
    before?.(vnode);
  };
}

function spellAttributes(props: object): void {
  for (const name of READ_ALOUD) {
    const value: unknown = Reflect.get(props, name);
    if (typeof value === "string") Reflect.set(props, name, visibleText(value));
  }
}
