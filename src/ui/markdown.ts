// Model text to DOM nodes, as it streams. Whatever the model writes stays text: no HTML is parsed, nothing is fetched, and a link
// goes to a web page, a mail address or nowhere.

import * as smd from 'streaming-markdown';

/** Letters of what a code fence may name as its language. */
const LANGUAGE = /^[\w+#.-]{1,32}$/;
const DIGITS = /^\d{1,9}$/;

/**
 * The address of a link that a model wrote, or null when it may not be followed. Browsers drop control characters and tabs inside
 * a scheme, so `java\tscript:` is dropped of them before it is judged, and what was judged is what is used.
 */
export function safeHref(href: string): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to drop
  const address = href.replace(/[\u0000-\u0020\u007f-\u00a0\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]/g, '');
  return /^(?:https?:|mailto:|#)/i.test(address) ? address : null;
}

/** A renderer that makes nodes by name from a fixed list and sets no attribute that the model chose, but for a safe href. */
export function guardedRenderer(root: HTMLElement): smd.Default_Renderer {
  const renderer = smd.default_renderer(root);
  return {
    ...renderer,
    add_token(data, type) {
      if (type === smd.IMAGE) return openElement(data, 'span', 'image');
      if (type === smd.EQUATION_BLOCK || type === smd.EQUATION_INLINE) return openElement(data, 'code', 'math');
      smd.default_add_token(data, type);
    },
    set_attr(data, type, value) {
      const node = data.nodes[data.index]!;
      switch (type) {
        case smd.HREF:
          setLink(node, safeHref(value));
          break;
        case smd.LANG:
          if (LANGUAGE.test(value)) node.setAttribute('data-language', value);
          break;
        case smd.START:
          if (DIGITS.test(value)) node.setAttribute('start', value);
          break;
        case smd.CHECKED:
          node.setAttribute('checked', '');
          break;
        default: // SRC and whatever comes later: an address that the browser would fetch by itself tells others what was said
      }
    },
  };
}

function openElement(data: smd.Default_Renderer_Data, name: string, className: string): void {
  const element = document.createElement(name);
  element.setAttribute('class', className);
  const parent = data.nodes[data.index]!;
  data.nodes[++data.index] = parent.appendChild(element);
}

function setLink(node: HTMLElement, address: string | null): void {
  if (address === null) return;
  node.setAttribute('href', address);
  node.setAttribute('title', address);
  node.setAttribute('rel', 'noopener noreferrer nofollow');
  node.setAttribute('target', '_blank');
}

/** Writes Markdown into one element, piece by piece. */
export class MarkdownWriter {
  private readonly parser: smd.Parser;

  constructor(root: HTMLElement) {
    this.parser = smd.parser(guardedRenderer(root));
  }

  write(text: string): void {
    smd.parser_write(this.parser, text);
  }

  /** Shows what was held back because it might have become markup. */
  end(): void {
    smd.parser_end(this.parser);
  }
}
