// As much of a document as a Markdown renderer touches: elements, text, attributes.

export class FakeElement {
  readonly attributes = new Map<string, string>();
  readonly childNodes: (FakeElement | string)[] = [];
  parentElement: FakeElement | null = null;
  type = '';
  disabled = false;

  constructor(readonly tag: string) {}

  get tagName(): string {
    return this.tag.toUpperCase();
  }

  get children(): FakeElement[] {
    return this.childNodes.filter((node) => typeof node !== 'string');
  }

  appendChild<T extends FakeElement | string>(node: T): T {
    this.childNodes.push(node);
    if (typeof node !== 'string') node.parentElement = this;
    return node;
  }

  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value);
  }

  descendants(): FakeElement[] {
    return this.children.flatMap((child) => [child, ...child.descendants()]);
  }

  text(): string {
    return this.childNodes.map((node) => (typeof node === 'string' ? node : node.text())).join('');
  }
}

export const fakeDocument = {
  createElement: (tag: string) => new FakeElement(tag),
  createTextNode: (text: string) => text,
};
