import { printable } from "@parley/mcp/protocol";
import { options } from "preact";

/**
 * Characters without a glyph. A human reader cannot see text made of such characters, but a model reads it. Joiners and
 * the common variation selectors are excluded, because scripts and emoji need them.
 */
const UNSEEN = /(?!\u200c|\u200d|[\ufe00-\ufe0f])[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** Escapes every character that is invisible or changes how other characters are drawn: `\u202e`, `\u{e0041}`. */
export function visibleText(text: string): string {
  return printable(text).replace(UNSEEN, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
    return code.length > 4 ? `\\u{${code}}` : `\\u${code}`;
  });
}

/** Attributes that browsers show or read aloud. */
const READ_ALOUD = ["title", "alt", "placeholder", "aria-label"] as const;

/**
 * Passes every text of the page through `visibleText`, because most texts come from servers. Leaves the values of form
 * fields unchanged, because the page sends these values to servers.
 */
export function showVisibleText(): void {
  const before = options.vnode;
  options.vnode = (vnode) => {
    // The props of a text node, which has no type, are the text itself.
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
