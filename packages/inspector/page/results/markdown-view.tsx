import { printable } from "@parley/mcp/protocol";
import type { Token, Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { OutsideLink } from "../parts/outside-link.js";
import { withoutEntities } from "./markdown-tokens.js";
import { isInlineImage } from "./media-data.js";

/** Levels of parts inside parts; what is deeper is shown as it is written. */
const DEEPEST = 40;

/** A Markdown text as elements. HTML in it is shown as text, links ask before they open, pictures are only those inside the text. */
export function MarkdownView({ tokens }: { readonly tokens: readonly Token[] }) {
  return <div class="results-markdown">{shownAll(tokens, 0)}</div>;
}

function shownAll(tokens: readonly Token[] | undefined, depth: number): ComponentChildren {
  return (tokens ?? []).map((token, index) => <Part key={index} token={token} depth={depth} />);
}

const shownText = (text: string) => printable(withoutEntities(text));

function Part({ token, depth }: { readonly token: Token; readonly depth: number }): ComponentChildren {
  if (depth > DEEPEST) return printable(token.raw);
  // A token of a type has the members of that type; tokens of extensions, which are not used, are why the compiler cannot know.
  const inside = () => shownAll((token as Tokens.Generic).tokens, depth + 1);
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return <Heading level={(token as Tokens.Heading).depth}>{inside()}</Heading>;
    case "paragraph":
      return <p>{inside()}</p>;
    case "blockquote":
      return <blockquote>{inside()}</blockquote>;
    case "list":
      return <List list={token as Tokens.List} depth={depth} />;
    case "code":
      return (
        <pre>
          <code>{printable((token as Tokens.Code).text)}</code>
        </pre>
      );
    case "table":
      return <Table table={token as Tokens.Table} depth={depth} />;
    case "hr":
      return <hr />;
    case "strong":
      return <strong>{inside()}</strong>;
    case "em":
      return <em>{inside()}</em>;
    case "del":
      return <del>{inside()}</del>;
    case "codespan":
      return <code>{printable((token as Tokens.Codespan).text)}</code>;
    case "br":
      return <br />;
    case "link":
      return <OutsideLink href={(token as Tokens.Link).href}>{inside()}</OutsideLink>;
    case "image":
      return <Picture image={token as Tokens.Image} />;
    case "text":
      return (token as Tokens.Text).tokens === undefined ? shownText((token as Tokens.Text).text) : inside();
    case "escape":
      return shownText((token as Tokens.Escape).text);
    case "checkbox":
      return (token as Tokens.Checkbox).checked ? "☑ " : "☐ ";
    default:
      // HTML, and whatever else there may be.
      return printable(token.raw);
  }
}

function Heading({ level, children }: { readonly level: number; readonly children: ComponentChildren }) {
  // Below the headings of the page itself.
  if (level === 1) return <h3>{children}</h3>;
  return level === 2 ? <h4>{children}</h4> : <h5>{children}</h5>;
}

function List({ list, depth }: { readonly list: Tokens.List; readonly depth: number }) {
  const items = list.items.map((item, index) => <li key={index}>{shownAll(item.tokens, depth + 1)}</li>);
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table, depth }: { readonly table: Tokens.Table; readonly depth: number }) {
  return (
    <div class="results-scroll">
      <table>
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              <th key={index}>{shownAll(cell.tokens, depth + 1)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, at) => (
                <td key={at}>{shownAll(cell.tokens, depth + 1)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Picture({ image }: { readonly image: Tokens.Image }) {
  if (isInlineImage(image.href)) return <img class="results-picture" src={image.href} alt={printable(image.text)} />;
  return (
    <span class="results-elsewhere">
      [picture elsewhere, not loaded: {printable(image.text)} {printable(image.href)}]
    </span>
  );
}
