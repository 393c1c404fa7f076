import { readFileSync } from "node:fs";
import { join } from "node:path";
import { McpError } from "@parley/mcp";

/** A file of the page. */
export interface PageFile {
  readonly mediaType: string;
  readonly bytes: Buffer;
}

const FILES = [
  ["/", "index.html", "text/html; charset=utf-8"],
  ["/inspector.js", "inspector.js", "text/javascript; charset=utf-8"],
  ["/inspector.css", "inspector.css", "text/css; charset=utf-8"],
] as const;

/**
 * Reads the files of the page, by the paths at which they are served. Request paths are only looked up in this map and
 * never reach the file system.
 */
export function pageFiles(folder: string): ReadonlyMap<string, PageFile> {
  try {
    return new Map(
      FILES.map(([path, name, mediaType]) => [path, { mediaType, bytes: readFileSync(join(folder, name)) }]),
    );
  } catch (cause) {
    throw new McpError("invalid_definition", `the page of the inspector is not in ${folder}`, {
      fix: "Install @parley/inspector again, or run `npm run build` in a checkout.",
      cause,
    });
  }
}

/** The page for a browser that has neither the token nor the cookie. */
export const CLOSED_PAGE: PageFile = {
  mediaType: "text/html; charset=utf-8",
  bytes: Buffer.from(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Parley inspector</title><link rel="icon" href="data:,">
<h1>This page needs its token</h1><p>Open the address that the terminal printed: it contains the token.
Paste it into the address bar: links from other pages do not work.</p></html>\n`,
  ),
};
