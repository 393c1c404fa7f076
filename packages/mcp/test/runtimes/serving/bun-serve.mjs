import { handler } from "./notes.mjs";

const { url } = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: handler });
console.log(url.href);
