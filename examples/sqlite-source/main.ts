import { connect, Server } from "@parley/mcp";
import { openDatabase } from "./database.js";
import { TableSource } from "./table-source.js";

const db = openDatabase(":memory:");
db.exec("CREATE TABLE books (isbn TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL, year INTEGER)");
for (let number = 100; number < 350; number++)
  db.exec(`INSERT INTO books VALUES ('${number}', 'Book ${number}', 1999)`);

const server = new Server({ name: "library", version: "1.0.0" }, { sources: [new TableSource(db, "books")] });
for (const revision of ["2025-11-25", "2026-07-28"] as const) {
  const client = await connect(server, { revisions: [revision] });
  console.log(`speaks   ${revision}`);
  const tools = (await client.allTools()).map(({ name }) => name);
  console.log(`tools    ${tools.join(", ")}`);

  const page = await client.request("resources/list", {});
  console.log(`page     ${page.resources.length} rows, then more: ${page.nextCursor !== undefined}`);
  console.log(`rows     ${(await client.allResources()).length}`);

  const changes = await client.subscribe("table:///books/123");
  const row = { isbn: "123", title: `Seen in ${revision}`, year: 2026 };
  console.log(`written  ${await text("books_set", row)}`);
  for await (const { uri } of changes) {
    const [contents] = (await client.readResource(uri ?? "")).contents;
    console.log(`changed  ${contents !== undefined && "text" in contents ? contents.text : ""}`);
    break;
  }
  console.log(`found    ${await text("books_find", { year: 2026 })}`);
  console.log(`refused  ${await text("books_set", { isbn: "124", year: "old" })}`);
  await client.close();

  async function text(name: string, args: object): Promise<string> {
    const [first] = (await client.callTool(name as never, args as never)).content;
    return first?.type === "text" ? first.text : "";
  }
}
await server.close();
