import { requestText, sendRaw } from "./raw-http.js";

/** What a page that was opened by its address has. */
export interface InspectorKeys {
  readonly port: number;
  readonly origin: string;
  readonly host: string;
  readonly token: string;
  /** `name=value`. */
  readonly cookie: string;
}

/** Opens the address of an inspector as a browser would, and takes its cookie. */
export async function keysOf(url: string): Promise<InspectorKeys> {
  const { port, host, origin, pathname, search, searchParams } = new URL(url);
  const { headers } = await sendRaw(Number(port), requestText("GET", pathname + search, [`Host: ${host}`]));
  const cookie = headers["set-cookie"]?.split(";")[0] ?? "";
  return { port: Number(port), origin, host, token: searchParams.get("token") ?? "", cookie };
}

/** The headers of an action as the page sends them, one on a line; those that a test gives replace them, `null` leaves one out. */
export function actionHeaders(keys: InspectorKeys, changed: Readonly<Record<string, string | null>> = {}): string[] {
  const headers: Record<string, string | null> = {
    Host: keys.host,
    Origin: keys.origin,
    Cookie: keys.cookie,
    "X-Parley-Token": keys.token,
    "Content-Type": "application/json",
    "Sec-Fetch-Site": "same-origin",
    ...changed,
  };
  return Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]));
}
