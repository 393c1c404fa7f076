import { shownUrl } from "../../http/shown-url.js";

const SECRET_NAME = "[\\w.-]*(?:key|token|secret|passw|credential|auth(?!or(?!iz)))[\\w.-]*";
/** `--api-key=…`, `API_TOKEN=…` and `Authorization: …`. */
const NAMED = new RegExp(`^(-{0,2}${SECRET_NAME}\\s*[:=]\\s*).`, "is");
/** `--api-key`, whose value is the next argument. */
const FLAG = new RegExp(`^-{1,2}${SECRET_NAME}$`, "i");

/** A command as messages may say it: what looks like a key, a token or a password by its name is left out. */
export function shownCommand(command: string, args: readonly string[]): string {
  const shown = args.map((arg, index) => {
    if (index > 0 && FLAG.test(args[index - 1] ?? "")) return "…";
    const name = NAMED.exec(arg)?.[1];
    if (name !== undefined) return `${name}…`;
    return /^[a-z]+:\/\//i.test(arg) ? shownUrl(arg) : arg;
  });
  return [command, ...shown].join(" ");
}
