import { isObject } from "../jsonrpc/message.js";
import { anIcon, arrayOf } from "./shape.js";

export const someIcons = arrayOf(anIcon);

/** A link without its icons, if one of them must not be drawn. */
export function withSafeIcons(block: unknown, at: string, problems: string[]): unknown {
  if (!isObject(block) || block.type !== "resource_link" || block.icons === undefined) return block;
  if (someIcons.passes(block.icons)) return block;
  problems.push(`${at}.icons is not ${someIcons.expected}; ignored`);
  const { icons: _icons, ...rest } = block;
  return rest;
}
