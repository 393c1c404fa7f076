import { Server, type ServerHandler } from "@parley/mcp";

const BOOKS: Readonly<Record<string, string>> = { dune: "A desert planet", emma: "A matchmaker" };

/** A server as one object: its methods determine its capabilities. The example mounts it under a prefix. */
class Library implements ServerHandler {
  #open = false;

  init() {
    this.#open = true;
  }

  terminate() {
    this.#open = false;
  }

  listTools() {
    return [{ name: "find", description: "Finds a book", inputSchema: { type: "object" as const } }];
  }

  callTool(_name: string, args: Record<string, unknown>) {
    if (!this.#open) return "the library is closed";
    return BOOKS[String(args["title"])] ?? "no such book";
  }

  listResources() {
    return Object.keys(BOOKS).map((title) => ({ uri: `book://${title}`, name: title }));
  }

  readResource(uri: string) {
    return BOOKS[uri.slice("book://".length)];
  }
}

export const library = Server.from(Library, { name: "library", version: "1.0.0" });
