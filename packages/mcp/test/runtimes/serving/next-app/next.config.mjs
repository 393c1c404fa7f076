import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../../../..", import.meta.url));

// The library is linked from the repository; what is outside this root is not looked for.
export default { distDir: "dist", turbopack: { root }, outputFileTracingRoot: root };
