// Reads what a source file declares: classes, interfaces and unions, with the text of their types and their comments.
// It resolves no names.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'vite';
import { ROOT } from '../lib/ensure.mjs';

/** A node of the syntax tree, as far as it is read here. */
export interface Node {
  type: string;
  start: number;
  end: number;
  // biome-ignore lint/suspicious/noExplicitAny: the tree's own types name hundreds of kinds of nodes
  [field: string]: any;
}

/** A field, a method or a getter. */
export interface Member {
  name: string;
  /** The type of a field, or the signature of a method. */
  type: string;
  isOptional: boolean;
  isStatic: boolean;
  doc: string;
}

export interface Declaration {
  doc: string;
  node: Node;
}

export class SourceFile {
  private readonly text: string;
  private readonly comments: readonly { start: number; end: number; value: string }[];
  private readonly declarations = new Map<string, Declaration>();

  constructor(file: string) {
    this.text = readFileSync(path.join(ROOT, file), 'utf8');
    const { program, comments } = parseSync(file, this.text);
    this.comments = comments;
    for (const statement of program.body as unknown as Node[]) {
      const node: Node = statement.declaration ?? statement;
      if (node.id?.name) this.declarations.set(node.id.name, { doc: this.docOf(statement), node });
    }
  }

  /** @throws Error for a name that the file does not declare */
  find(name: string): Declaration {
    const found = this.declarations.get(name);
    if (!found) throw new Error(`There is no declaration of ${name}.`);
    return found;
  }

  names(): string[] {
    return [...this.declarations.keys()];
  }

  /** The public members of a class, an interface or an object type. */
  membersOf(node: Node): Member[] {
    const members: Node[] = node.members ?? node.body?.body ?? node.body ?? [];
    return members.filter(isPublic).map((member) => ({
      name: member.key.name,
      type: this.typeOf(member),
      isOptional: Boolean(member.optional),
      isStatic: Boolean(member.static),
      doc: this.docOf(member),
    }));
  }

  /** The text of a node in one line, without comments. */
  textOf({ start, end }: Node): string {
    const inside = this.comments.filter((comment) => comment.start >= start && comment.end <= end);
    let text = '';
    let from = start;
    for (const comment of inside) {
      text += this.text.slice(from, comment.start);
      from = comment.end;
    }
    return (text + this.text.slice(from, end)).replace(/\s+/g, ' ').trim();
  }

  /** The comment that stands before a node, in one line. */
  docOf({ start }: Node): string {
    const before = this.comments.findLast(({ end }) => end <= start);
    if (!before || !/^[\s|]*$/.test(this.text.slice(before.end, start))) return '';
    const lines = before.value.replace(/^\*+/, '').split('\n');
    return lines
      .map((line) => line.replace(/^\s*\*? ?/, '').trim())
      .join('\n')
      .replace(/\n(?=- )/g, '<br>')
      .replace(/\s+/g, ' ')
      .trim();
  }

  private typeOf(member: Node): string {
    const { typeAnnotation, value, kind } = member;
    if (typeAnnotation) return this.textOf(typeAnnotation.typeAnnotation);
    const method: Node = member.type === 'TSMethodSignature' ? member : value;
    const returned = method.returnType ? this.textOf(method.returnType.typeAnnotation) : 'void';
    if (kind === 'get') return returned;
    return `(${method.params.map((param: Node) => this.parameter(param)).join(', ')}): ${returned}`;
  }

  /** Parameters taken apart have the name `options`. */
  private parameter(param: Node): string {
    const target: Node = param.type === 'AssignmentPattern' ? param.left : param;
    const name = target.type === 'Identifier' ? target.name : 'options';
    const isOptional = param.type === 'AssignmentPattern' || target.optional;
    return `${name}${isOptional ? '?' : ''}: ${this.textOf(target.typeAnnotation.typeAnnotation)}`;
  }
}

function isPublic({ accessibility, key, kind }: Node): boolean {
  return accessibility !== 'private' && key?.type === 'Identifier' && kind !== 'constructor';
}
