/** An expression of a URI template that is longer is none. */
const LONGEST_EXPRESSION = 10_000;

const OUTSIDE_URI = /[^\w\-.~!$&'()*+,;=:@/?#[\]%]/;
const HALF_ESCAPE = /%(?![\da-f]{2})/i;
const SCHEME = /^[a-z][a-z\d+.-]{0,255}:/i;
const ADDRESS = /^\[(?:[\da-f:.]{2,64}|v[\da-f]{1,8}\.[\w\-.~!$&'()*+,;=:]{1,255})\](?::\d*)?$/i;

// None of these tests repeats a group over the whole text: on a text of some megabytes such an expression runs out of stack.

/** Whether a text is a URI with a scheme. Spec: RFC 3986, section 3. */
export function isUri(text: string): boolean {
  const scheme = SCHEME.exec(text)?.[0];
  if (scheme === undefined || OUTSIDE_URI.test(text) || HALF_ESCAPE.test(text)) return false;
  const rest = text.slice(scheme.length);
  if (rest.indexOf("#") !== rest.lastIndexOf("#")) return false;
  if (!rest.startsWith("//")) return !/[[\]]/.test(rest);
  const length = rest.slice(2).search(/[/?#]/);
  const end = length < 0 ? rest.length : length + 2;
  return isAuthority(rest.slice(2, end)) && !/[[\]]/.test(rest.slice(end));
}

function isAuthority(text: string): boolean {
  const at = text.indexOf("@");
  if (at !== text.lastIndexOf("@") || text.slice(0, Math.max(at, 0)).includes("[")) return false;
  const host = text.slice(at + 1);
  if (/[[\]]/.test(host)) return ADDRESS.test(host);
  const colon = host.indexOf(":");
  return colon < 0 || !/\D/.test(host.slice(colon + 1));
}

/** Whether a text is a URI template. Spec: RFC 6570, section 2. */
export function isUriTemplate(text: string): boolean {
  for (let at = 0; ; ) {
    const open = text.indexOf("{", at);
    const literal = text.slice(at, open < 0 ? undefined : open);
    if (/[\0- "'<>\\^`{|}]/.test(literal) || HALF_ESCAPE.test(literal)) return false;
    if (open < 0) return true;
    const close = text.indexOf("}", open);
    if (close < 0 || !isExpression(text.slice(open + 1, close))) return false;
    at = close + 1;
  }
}

function isExpression(text: string): boolean {
  if (text.length > LONGEST_EXPRESSION) return false;
  const variables = text.replace(/^[+#./;?&=,!@|]/, "").split(",");
  return variables.every((each) => /^(?:\w|%[\da-f]{2}|\b\.\b)+(?::[1-9]\d{0,3}|\*)?$/i.test(each));
}

/** Whether a text is Base64 with its padding. Spec: RFC 4648, section 4. */
export function isBase64(text: string): boolean {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return text.length % 4 === 0 && !/[^A-Za-z\d+/]/.test(text.slice(0, text.length - padding));
}
