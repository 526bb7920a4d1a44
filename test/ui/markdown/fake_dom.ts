// The parts of a document that a Markdown renderer uses: elements, text, attributes, clicks.

function siblingAfter(node: FakeElement | FakeText): FakeElement | FakeText | null {
  const nodes = node.parentElement?.childNodes ?? [];
  return nodes[nodes.indexOf(node) + 1] ?? null;
}

export class FakeText {
  readonly nodeType = 3;
  parentElement: FakeElement | null = null;

  constructor(public data: string) {}

  get length(): number {
    return this.data.length;
  }

  get nextSibling(): FakeElement | FakeText | null {
    return siblingAfter(this);
  }

  appendData(text: string): void {
    this.data += text;
  }
}

export class FakeElement {
  readonly nodeType = 1;
  readonly attributes = new Map<string, string>();
  readonly childNodes: (FakeElement | FakeText)[] = [];
  readonly listeners = new Map<string, () => void>();
  parentElement: FakeElement | null = null;
  type = '';
  dir = '';
  readonly style: Record<string, string> = {};
  disabled = false;

  constructor(readonly tag: string) {}

  get tagName(): string {
    return this.tag.toUpperCase();
  }

  get children(): FakeElement[] {
    return this.childNodes.filter((node) => node instanceof FakeElement);
  }

  get lastChild(): FakeElement | FakeText | null {
    return this.childNodes.at(-1) ?? null;
  }

  get firstChild(): FakeElement | FakeText | null {
    return this.childNodes[0] ?? null;
  }

  get nextSibling(): FakeElement | FakeText | null {
    return siblingAfter(this);
  }

  insertBefore(node: FakeElement | FakeText, before: FakeElement | FakeText | null): void {
    this.childNodes.splice(before ? this.childNodes.indexOf(before) : this.childNodes.length, 0, node);
    node.parentElement = this;
  }

  removeChild(node: FakeElement | FakeText): void {
    this.childNodes.splice(this.childNodes.indexOf(node), 1);
    node.parentElement = null;
  }

  replaceChildren(...nodes: (FakeElement | FakeText)[]): void {
    for (const node of this.childNodes.splice(0)) node.parentElement = null;
    for (const node of nodes) this.appendChild(node);
  }

  appendChild<T extends FakeElement | FakeText>(node: T): T {
    this.childNodes.push(node);
    node.parentElement = this;
    return node;
  }

  cloneNode(deep = false): FakeElement {
    const clone = new FakeElement(this.tag);
    for (const [name, value] of this.attributes) clone.setAttribute(name, value);
    for (const node of deep ? this.childNodes : []) {
      clone.appendChild(node instanceof FakeElement ? node.cloneNode(true) : new FakeText(node.data));
    }
    return clone;
  }

  dispatchEvent(): void {}

  addEventListener(type: string, listener: () => void): void {
    this.listeners.set(type, listener);
  }

  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value);
  }

  removeAttribute(name: string): void {
    this.attributes.delete(name);
  }

  descendants(): FakeElement[] {
    const found: FakeElement[] = [];
    const walk = (element: FakeElement) => {
      for (const child of element.children) {
        found.push(child);
        walk(child);
      }
    };
    walk(this);
    return found;
  }

  text(): string {
    return this.childNodes.map((node) => (node instanceof FakeText ? node.data : node.text())).join('');
  }
}

export const fakeDocument = {
  createElementNS: (_space: string, tag: string) => new FakeElement(tag),
  createElement: (tag: string) => new FakeElement(tag),
  createTextNode: (text: string) => new FakeText(text),
};
