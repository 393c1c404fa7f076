import { isRecord } from "../config-dialect.js";
import type { Setting, SettingGroup } from "./settings.js";

/** The members of a setting that has some. */
export function groupOf(setting: Setting): SettingGroup | undefined {
  if (typeof setting === "string") return undefined;
  if (isSwitch(setting)) return setting[1];
  return isChoice(setting) ? undefined : setting;
}

/** What the value should be, in words; undefined if it fits. Members of groups are not looked at. */
export function expectedInstead(setting: Setting, value: unknown): string | undefined {
  if (typeof setting === "string") return KINDS[setting].fits(value) ? undefined : KINDS[setting].says;
  if (isSwitch(setting)) return value === false || isRecord(value) ? undefined : "false or an object";
  if (!isChoice(setting)) return isRecord(value) ? undefined : "an object";
  return setting.some((one) => one === value) ? undefined : `one of ${setting.map((one) => `"${one}"`).join(", ")}`;
}

/** True for a group that `false` turns off. */
export function isSwitch(setting: Setting): setting is readonly [false, SettingGroup] {
  return Array.isArray(setting) && setting[0] === false;
}

/** The value that a variable of the environment holds; the text itself if it is none. */
export function valueOfText(setting: Setting, text: string): unknown {
  if (setting === "flag or auto" && text.trim() === "auto") return "auto";
  if (setting === "flag" || setting === "flag or auto") return FLAGS[text.trim().toLowerCase()];
  if (setting === "count" || setting === "whole") return /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : undefined;
  if (setting === "number") return /^\s*\d{1,15}(\.\d{1,15})?\s*$/.test(text) ? Number(text) : undefined;
  if (isSwitch(setting)) return FLAGS[text.trim().toLowerCase()];
  if (setting === "texts") return text.trimStart().startsWith("[") ? parsed(text) : listOf(text);
  if (setting === "text or texts" && text.trimStart().startsWith("[")) return parsed(text);
  if (setting === "text map") return parsed(text);
  return setting === "text or false" && text === "false" ? false : text;
}

/** How variables say yes and no. */
const FLAGS: Readonly<Record<string, boolean | undefined>> = {
  // Without a prototype, so that `constructor` says neither.
  __proto__: null as never,
  true: true,
  yes: true,
  on: true,
  "1": true,
  false: false,
  no: false,
  off: false,
  "0": false,
};

const isNumber = (value: unknown) => typeof value === "number" && Number.isFinite(value) && value >= 0;
const isText = (value: unknown) => typeof value === "string";
const isWhole = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
const areTexts = (value: unknown) => Array.isArray(value) && value.every(isText);

/** What each kind takes, and how to say it. */
const KINDS: Readonly<
  Record<Extract<Setting, string>, { readonly fits: (value: unknown) => boolean; readonly says: string }>
> = {
  flag: { fits: (value) => typeof value === "boolean", says: "true or false" },
  "flag or auto": { fits: (value) => typeof value === "boolean" || value === "auto", says: 'true, false or "auto"' },
  count: { fits: (value) => isWhole(value) && value !== 0, says: "a whole number above 0" },
  whole: { fits: isWhole, says: "a whole number, 0 or above" },
  number: { fits: isNumber, says: "a number, 0 or above" },
  text: { fits: isText, says: "a text" },
  texts: { fits: areTexts, says: "a list of texts" },
  "text or texts": { fits: (value) => isText(value) || areTexts(value), says: "a text or a list of texts" },
  "text or false": { fits: (value) => isText(value) || value === false, says: "a text or false" },
  "text map": { fits: (value) => isRecord(value) && Object.values(value).every(isText), says: "an object of texts" },
};

function isChoice(setting: Setting): setting is readonly string[] {
  return Array.isArray(setting);
}

function listOf(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The message would quote the text.
    return undefined;
  }
}
