import { printable } from "@parley/mcp/protocol";
import type { Token, Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { OutsideLink } from "../parts/outside-link.js";
import { withoutEntities } from "./markdown-tokens.js";
import { isInlineImage } from "./media-data.js";

/** Maximum number of nesting levels. Deeper tokens are shown as source text. */
const MAX_DEPTH = 40;

/**
 * Renders Markdown as elements. HTML is shown as text, links ask before they open, and only images embedded as data
 * URLs are displayed.
 */
export function MarkdownView({ tokens }: { readonly tokens: readonly Token[] }) {
  return <div class="results-markdown">{renderTokens(tokens, 0)}</div>;
}

function renderTokens(tokens: readonly Token[] | undefined, depth: number): ComponentChildren {
  return (tokens ?? []).map((token, index) => <Part key={index} token={token} depth={depth} />);
}

const shownText = (text: string) => printable(withoutEntities(text));

function Part({ token, depth }: { readonly token: Token; readonly depth: number }): ComponentChildren {
  if (depth > MAX_DEPTH) return printable(token.raw);
  // The casts below rely on `type`. The compiler cannot narrow by `type`, because extensions of the lexer may define
  // any type. No extensions are used here.
  const inside = () => renderTokens((token as Tokens.Generic).tokens, depth + 1);
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
      // HTML and unknown token types.
      return printable(token.raw);
  }
}

function Heading({ level, children }: { readonly level: number; readonly children: ComponentChildren }) {
  // Markdown headings start below the heading levels of the page.
  if (level === 1) return <h3>{children}</h3>;
  return level === 2 ? <h4>{children}</h4> : <h5>{children}</h5>;
}

function List({ list, depth }: { readonly list: Tokens.List; readonly depth: number }) {
  const items = list.items.map((item, index) => <li key={index}>{renderTokens(item.tokens, depth + 1)}</li>);
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table, depth }: { readonly table: Tokens.Table; readonly depth: number }) {
  return (
    <div class="results-scroll">
      <table>
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              <th key={index}>{renderTokens(cell.tokens, depth + 1)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, at) => (
                <td key={at}>{renderTokens(cell.tokens, depth + 1)}</td>
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
      [external image, not loaded: {printable(image.text)} {printable(image.href)}]
    </span>
  );
}
