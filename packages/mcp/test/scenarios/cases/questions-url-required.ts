import { Server, urlRequired } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a handler that needs a page visited first says so once, and each revision hears it in its own way",
  ids: ["ELIC-14", "MRTR-14"],
  server: () => {
    let tries = 0;
    return new Server({ name: "guarded", version: "1" }).tool("secret", {}, () => {
      if (++tries === 1) throw urlRequired([{ message: "Sign in", url: "https://example.com/in" }]);
      return "the secret";
    });
  },
  except: {
    "gateway-stateless/stateful":
      "a server without sessions asks for the visit in a round, which the client gets as a question",
  },
  async run({ connect, era }) {
    const asked: string[] = [];
    const client = await connect({
      onElicit(question) {
        asked.push(question.message);
        return { action: "accept" };
      },
    });
    if (era === "stateful") {
      await expect(client.call("secret")).rejects.toMatchObject({
        code: -32042,
        data: { elicitations: [{ mode: "url", url: "https://example.com/in", elicitationId: expect.any(String) }] },
      });
    } else {
      expect(await client.call("secret")).toBe("the secret");
      expect(asked).toEqual(["Sign in"]);
    }
    expect(await client.call("secret")).toBe("the secret");
  },
});
