import { connectToHost } from "@parley/mcp/apps-view";

// The page of an app. It shows what it is told, and asks for something with each button.

const show = (id: string, text: string) => {
  const line = document.createElement("p");
  line.textContent = `${id}: ${text}`;
  document.body.append(line);
};

const host = await connectToHost(
  { name: "tides", version: "1" },
  {
    onInput: (input) => show("input", JSON.stringify(input)),
    onResult: ({ content }) => show("result", JSON.stringify(content)),
  },
);

const asks: Record<string, () => Promise<unknown>> = {
  Refresh: () => host.callTool("refresh", { city: "Bergen" }),
  Both: () => Promise.all(["Oslo", "Bodø"].map((city) => host.callTool("refresh", { city }))),
  Secret: () => host.callTool("secret", {}),
  Read: () => host.readResource("tides://bergen"),
  Open: () => host.openLink("https://example.com/tides"),
  Say: () => host.sendMessage("the tide is high"),
  Tell: () => host.updateModelContext({ content: [{ type: "text", text: "high tide" }] }),
};

for (const [name, ask] of Object.entries(asks)) {
  const button = document.createElement("button");
  button.textContent = name;
  button.onclick = () =>
    ask().then(
      (answer) => show(name, `got ${JSON.stringify(answer) ?? "it"}`),
      (error: unknown) => show(name, `was refused: ${String(error)}`),
    );
  document.body.append(button);
}
