/** A variable of a URI template. */
export interface TemplateVariable {
  readonly name: string;
  /** Left out, it leaves a URI that the template can still stand for. */
  readonly optional: boolean;
}

interface Style {
  readonly first: string;
  readonly separator: string;
  readonly named: boolean;
  readonly ifEmpty: string;
  readonly reserved: boolean;
}

/** RFC 6570, appendix A. */
const STYLES: Readonly<Record<string, Style>> = {
  "": { first: "", separator: ",", named: false, ifEmpty: "", reserved: false },
  "+": { first: "", separator: ",", named: false, ifEmpty: "", reserved: true },
  "#": { first: "#", separator: ",", named: false, ifEmpty: "", reserved: true },
  ".": { first: ".", separator: ".", named: false, ifEmpty: "", reserved: false },
  "/": { first: "/", separator: "/", named: false, ifEmpty: "", reserved: false },
  ";": { first: ";", separator: ";", named: true, ifEmpty: "", reserved: false },
  "?": { first: "?", separator: "&", named: true, ifEmpty: "=", reserved: false },
  "&": { first: "&", separator: "&", named: true, ifEmpty: "=", reserved: false },
};

const EXPRESSION = /\{([+#./;?&]?)([^{}]*)\}/g;
/** Variables that are asked for. */
const MOST_VARIABLES = 100;

function variablesIn(body: string) {
  return body.split(",").map((each) => {
    const [, name = "", prefix] = /^([^*:]*)(?::([0-9]{1,4})|\*)?$/.exec(each.trim()) ?? [];
    return { name, prefix: prefix === undefined ? undefined : Number(prefix) };
  });
}

/** The variables of a template, each once, in order. */
export function templateVariables(template: string): readonly TemplateVariable[] {
  const found = new Map<string, TemplateVariable>();
  for (const [, operator = "", body = ""] of template.matchAll(EXPRESSION)) {
    for (const { name } of variablesIn(body)) {
      if (name === "" || found.has(name) || found.size >= MOST_VARIABLES) continue;
      found.set(name, { name, optional: operator !== "" && operator !== "+" });
    }
  }
  return [...found.values()];
}

/** The URI that a template stands for with these texts (RFC 6570); variables without one are left out. */
export function templateUri(template: string, values: Readonly<Record<string, unknown>>): string {
  return template.replaceAll(EXPRESSION, (_whole, operator: string, body: string) => {
    const style = STYLES[operator] ?? STYLES[""];
    if (style === undefined) return "";
    const parts = variablesIn(body).flatMap(({ name, prefix }) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      if (typeof value !== "string") return [];
      // A prefix counts characters, not the halves of pairs.
      const text = prefix === undefined ? value : [...value].slice(0, prefix).join("");
      const encoded = style.reserved ? encodedReserved(text) : encoded3986(text);
      if (!style.named) return [encoded];
      return [encoded === "" ? `${name}${style.ifEmpty}` : `${name}=${encoded}`];
    });
    return parts.length === 0 ? "" : style.first + parts.join(style.separator);
  });
}

function encoded3986(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Cs}/gu, "\ufffd")).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Keeps reserved characters, and what is encoded already. */
function encodedReserved(text: string): string {
  return text.replaceAll(/%[0-9A-Fa-f]{2}|[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]+|./gsu, (part) =>
    part.length > 1 && part.startsWith("%")
      ? part
      : /^[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]+$/.test(part)
        ? part
        : encoded3986(part),
  );
}
