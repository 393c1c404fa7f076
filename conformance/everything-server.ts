import { content, Server, ToolError } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { skill, skills } from "@parley/mcp/skills";
import { tasks } from "@parley/mcp/tasks";
import everyKeyword from "./every-keyword.schema.json" with { type: "json" };
import { addInputRequiredTools } from "./input-required-tools.js";
import { addQuestionTools } from "./question-tools.js";
import { addTaskTools } from "./task-tools.js";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const server = new Server(
  { name: "everything-server", version: "1.0.0" },
  {
    instructions: "Answers what the referee asks.",
    extensions: [
      tasks({ pollIntervalMs: 200 }),
      skills(
        skill({
          name: "pdf-processing",
          description: "Extract, fill, and assemble PDF documents",
          body: "\nChoose a template from `templates/`.\n",
          files: { "templates/invoice.md": "# Invoice\n", "templates/regional/eu.md": "# Invoice\n", LICENSE: "MIT\n" },
          frontmatter: { license: "MIT", metadata: { version: "2.1.0" } },
        }),
      ),
    ],
  },
);

server
  .tool("test_simple_text", { description: "Plain text" }, () => "This is a simple text response for testing.")
  .tool("test_image_content", { description: "A picture" }, () => content.image(PNG, "image/png"))
  .tool("test_audio_content", { description: "A sound" }, () => content.audio(WAV, "audio/wav"))
  .tool("test_embedded_resource", { description: "A resource" }, () =>
    content.resource("test://embedded-resource", "This is an embedded resource content.", { mimeType: "text/plain" }),
  )
  .tool("test_multiple_content_types", { description: "Text, picture and resource" }, () => [
    content.text("Multiple content types test:"),
    content.image(PNG, "image/png"),
    content.resource("test://mixed-content-resource", '{"test":"data","value":123}', { mimeType: "application/json" }),
  ])
  .tool("test_error_handling", { description: "Fails" }, () => {
    throw new ToolError("This tool intentionally returns an error for testing");
  })
  .tool("test_tool_with_progress", { description: "Reports progress" }, async (_args, ctx) => {
    for (const progress of [0, 50, 100]) {
      ctx.progress(progress, { total: 100 });
      await pause(50);
    }
    return "done";
  })
  .tool("test_tool_with_logging", { description: "Logs" }, async (_args, ctx) => {
    for (const line of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      ctx.log("info", line);
      await pause(50);
    }
    return "done";
  })
  .tool("test_logging_tool", { description: "Logs where the client wants it" }, (_args, ctx) => {
    ctx.log("info", "logged");
    return "done";
  })
  .tool("test_reconnection", { description: "Lets the client come back for the answer" }, async (_args, ctx) => {
    ctx.http?.pause(100);
    await pause(100);
    return "reconnected";
  })
  .tool("test_trigger_tool_change", { description: "Changes the tools" }, () => {
    server.remove("tool", "test_passing");
    server.tool("test_passing", { description: "Comes and goes" }, () => "here");
    return "changed";
  })
  .tool("test_trigger_prompt_change", { description: "Changes the prompts" }, () => {
    server.remove("prompt", "test_passing_prompt");
    server.prompt("test_passing_prompt", { description: "Comes and goes" }, () => "here");
    return "changed";
  })
  .tool(
    "test_x_mcp_header",
    {
      description: "Mirrors an argument",
      input: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } },
    },
    () => "ok",
  )
  .tool("json_schema_2020_12_tool", { description: "Has every keyword", input: everyKeyword }, () => "ok");

addQuestionTools(server);
addInputRequiredTools(server);
addTaskTools(server);

server
  .resource(
    "test://static-text",
    { name: "static-text", mimeType: "text/plain" },
    () => "This is the content of the static text resource.",
  )
  .resource("test://static-binary", { name: "static-binary", mimeType: "image/png" }, () => ({ blob: PNG }))
  .resource("test://watched-resource", { name: "watched-resource", mimeType: "text/plain" }, () => "watched")
  .resourceTemplate("test://template/{id}/data", { name: "template", mimeType: "application/json" }, ({ id }) =>
    JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  );

server
  .prompt("test_simple_prompt", { description: "A prompt" }, () => "This is a simple prompt for testing.")
  .prompt(
    "test_prompt_with_arguments",
    {
      description: "Uses its arguments",
      arguments: { arg1: { required: true, complete: () => [] }, arg2: { required: true } },
    },
    ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  )
  .prompt(
    "test_prompt_with_embedded_resource",
    { description: "Embeds a resource", arguments: { resourceUri: { required: true } } },
    ({ resourceUri }) => [
      content.resource(resourceUri, "Embedded resource content.", { mimeType: "text/plain" }),
      content.text("Please process it."),
    ],
  )
  .prompt("test_prompt_with_image", { description: "Shows a picture" }, () => [
    content.image(PNG, "image/png"),
    content.text("Please analyse it."),
  ]);

const handle = await serveHttp(server, { port: Number(process.env["PORT"] ?? 0) });
console.log(handle.url.replace("127.0.0.1", "localhost"));
