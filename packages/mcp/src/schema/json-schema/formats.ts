import type { Formats } from "./schema-builder.js";

// Every expression here is anchored and unambiguous, so matching takes linear time.
const TIME = /^(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[zZ]|([+-])(\d{2}):(\d{2}))$/;
const IPV4 = /^(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/;
const UUID = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;
const LABEL = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/;
const SCHEME = /^[a-zA-Z][a-zA-Z0-9+.-]*:/;
const URI_TEXT = /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9a-fA-F]{2})*$/;
const LOCAL_PART = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const CLOCK = "T\\d+(?:H(?:\\d+M(?:\\d+S)?)?|M(?:\\d+S)?|S)";
const DURATION = /* @__PURE__ */ new RegExp(
  `^P(?:\\d+(?:W$|(?:Y(?:\\d+M(?:\\d+D)?)?|M(?:\\d+D)?|D)(?:${CLOCK})?$)|${CLOCK}$)`,
);
const POINTER = /^(?:\/(?:[^~/]|~0|~1)*)*$/;

/** Checks for the common JSON Schema formats, for the `formats` option of `compileValidator`. */
export const standardFormats: Formats = {
  date: isDate,
  time: isTime,
  "date-time": isDateTime,
  duration: (text) => DURATION.test(text),
  email: isEmail,
  hostname: isHostname,
  ipv4: (text) => IPV4.test(text),
  ipv6: isIpv6,
  uri: isUri,
  "uri-reference": isUriReference,
  uuid: (text) => UUID.test(text),
  "json-pointer": (text) => POINTER.test(text),
  regex: isRegex,
};

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  // Some engines take the 31st of a short month for the next day.
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

function isTime(text: string): boolean {
  const match = TIME.exec(text);
  if (match === null) return false;
  const [, hour, minute, second, sign, offsetHour, offsetMinute] = match;
  const shift = (Number(offsetHour ?? 0) * 60 + Number(offsetMinute ?? 0)) * (sign === "-" ? -1 : 1);
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return false;
  if (Number(offsetHour ?? 0) > 23 || Number(offsetMinute ?? 0) > 59) return false;
  if (second !== "60") return true;
  // RFC 3339, 5.7: a leap second can only be the last second of a day in UTC.
  const inUtc = (Number(hour) * 60 + Number(minute) - shift + 2 * 1440) % 1440;
  return inUtc === 1439;
}

function isDateTime(text: string): boolean {
  return /^[tT]$/.test(text.charAt(10)) && isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  const local = text.slice(0, at);
  const domain = text.slice(at + 1);
  if (at < 1 || local.length > 64 || domain.length > 255) return false;
  const quoted = /^"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"$/.test(local);
  if (!quoted && !LOCAL_PART.test(local)) return false;
  const literal = /^\[(?:IPv6:)?([^\]]+)\]$/.exec(domain)?.[1];
  return literal === undefined ? isHostname(domain) : IPV4.test(literal) || isIpv6(literal);
}

function isHostname(text: string): boolean {
  if (text.length === 0 || text.length > 253) return false;
  return text.split(".").every((label) => LABEL.test(label) && !/^[^x].--|^x[^n]--/i.test(label));
}

function isIpv6(text: string): boolean {
  return text.length <= 45 && /^[0-9a-fA-F:.]+$/.test(text) && URL.canParse(`http://[${text}]`);
}

function isUri(text: string): boolean {
  return SCHEME.test(text) && isUriReference(text);
}

function isUriReference(text: string): boolean {
  if (!URI_TEXT.test(text) || text.indexOf("#") !== text.lastIndexOf("#")) return false;
  const authority = /^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?\/\/([^/?#]*)/.exec(text)?.[1];
  const rest = authority === undefined ? text : text.slice(text.indexOf("//") + 2 + authority.length);
  if (/[[\]]/.test(rest)) return false;
  // RFC 3986, 4.2: in a relative reference, a colon in the first segment would end a scheme.
  if (!SCHEME.test(text) && /^[^/?#]*:/.test(text)) return false;
  return authority === undefined || isAuthority(authority);
}

function isAuthority(authority: string): boolean {
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  if (authority.indexOf("@") !== authority.lastIndexOf("@") || /[[\]]/.test(authority.replace(host, ""))) return false;
  const bracketed = /^\[([^[\]]*)\](?::\d*)?$/.exec(host)?.[1];
  if (bracketed !== undefined) return isIpv6(bracketed) || /^v[0-9a-fA-F]+\..+$/.test(bracketed);
  return /^[^[\]:]*(?::\d*)?$/.test(host);
}

function isRegex(text: string): boolean {
  try {
    new RegExp(text, "u");
    return true;
  } catch {
    return false;
  }
}
