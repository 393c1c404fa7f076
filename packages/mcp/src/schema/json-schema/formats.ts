import type { Formats } from "./schema-builder.js";

// Each expression is anchored and unambiguous, so matching takes linear time.
const TIME = /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.\d+)?(?:z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?=\d)|$)){4}$/;
const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;
const LABEL = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i;
const SCHEME = /^[a-z][a-z\d+.-]*:/i;
const URI_TEXT = /^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[\da-f]{2})*$/i;
const URI_PARTS = /^(?:[a-z][a-z\d+.-]*:)?(?:\/\/([^/?#]*))?[^[\]#]*(?:#[^[\]#]*)?$/i;
const LOCAL_PART = /^(?:[\w!#$%&'*+/=?^`{|}~-]+(?:\.(?!$)|$))+$/;
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
  // Some engines accept the 31st of a shorter month and continue in the next month, so compare the result with the
  // text.
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

function isTime(text: string): boolean {
  const match = TIME.exec(text);
  if (match === null) return false;
  const [, hour, minute, second, sign, offsetHour = 0, offsetMinute = 0] = match;
  if (second !== "60") return true;
  // RFC 3339, 5.7: a leap second can only be the last second of a day in UTC.
  const shift = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === "-" ? -1 : 1);
  return (Number(hour) * 60 + Number(minute) - shift + 2 * 1440) % 1440 === 1439;
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
  const parts = URI_TEXT.test(text) ? URI_PARTS.exec(text) : null;
  // RFC 3986, 4.2: the first segment of a relative reference contains no colon, because the text before the colon would
  // be read as a scheme.
  if (parts === null || (!SCHEME.test(text) && /^[^/?#]*:/.test(text))) return false;
  return parts[1] === undefined || isAuthority(parts[1]);
}

function isAuthority(authority: string): boolean {
  const match = /^(?:[^@[\]]*@)?(?:\[([^[\]]*)\]|[^@[\]:]*)(?::\d*)?$/.exec(authority);
  if (match?.[1] === undefined) return match !== null;
  return isIpv6(match[1]) || /^v[\da-f]+\..+$/i.test(match[1]);
}

function isRegex(text: string): boolean {
  try {
    new RegExp(text, "u");
    return true;
  } catch {
    return false;
  }
}
