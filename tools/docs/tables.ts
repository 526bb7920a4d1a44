// Tables of the reference: options, members of types, events and errors.

import { legalValues } from '../../src/engine/option_values';
import { GENERATE_OPTIONS, LOAD_OPTIONS, type Option, type Options } from '../../src/engine/options';
import { VivaceError } from '../../src/errors';
import { type Member, type Node, SourceFile } from './declarations';

const code = (text: string) => (text ? `\`${text}\`` : '');
/** A cell. A bar would end it, also inside code. */
const cell = (text: string) => text.replaceAll('|', '\\|');
const dashed = (key: string) => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n');
}

function valuesOf(option: Option): string {
  if (option.kind !== 'choice') return legalValues(option);
  return Object.entries(option.choices)
    .map(([value, words]) => (words ? `${code(value)} (${words})` : code(value)))
    .join(', ');
}

function optionTable(options: Options): string {
  const rows = Object.entries(options).map(([key, option]) => [
    code(key),
    option.isApiOnly ? '' : code(option.name ?? dashed(key)),
    option.default === undefined ? '' : code(JSON.stringify(option.default)),
    option.help,
    valuesOf(option),
  ]);
  return table(['key', 'name', 'default', 'meaning', 'values'], rows);
}

/** The text of a comment, with its tags in words. */
function prose(doc: string): string {
  return doc
    .replace(/\s*@throws\s+(.*)$/, (_, thrown) => ` Throws ${thrown.replace(/\.?$/, '.')}`)
    .replace(/\s*@param (\w+)\s+/g, (_, name) => ` \`${name}\`: `);
}

function memberTable(members: readonly Member[]): string {
  const rows = members.map(({ name, type, isOptional, doc }) => [
    code(`${name}${isOptional ? '?' : ''}`),
    code(type),
    prose(doc),
  ]);
  return table(['field', 'type', 'meaning'], rows);
}

function methodList(members: readonly Member[], owner: string): string {
  const variable = owner[0].toLowerCase() + owner.slice(1);
  const ordered = [...members.filter(({ isStatic }) => isStatic), ...members.filter(({ isStatic }) => !isStatic)];
  return ordered
    .map(({ name, type, isStatic, doc }) => {
      const call = `${isStatic ? owner : variable}.${name}${type.startsWith('(') ? type : `: ${type}`}`;
      return `- ${code(call)}<br>\n  ${prose(doc)}`;
    })
    .join('\n');
}

/** The members of a union whose objects have a `type`, those of named types in the file taken apart. */
function unionRows(source: SourceFile, node: Node): string[][] {
  const parts: Node[] = node.type === 'TSUnionType' ? node.types : [node];
  return parts.flatMap((part) => {
    if (part.type === 'TSTypeLiteral') return [eventRow(source, part, source.docOf(part))];
    const name = source.textOf(part);
    if (!source.names().includes(name)) return [];
    const { node: named, doc } = source.find(name);
    return named.type === 'TSInterfaceDeclaration' ? [eventRow(source, named, doc)] : [];
  });
}

function eventRow(source: SourceFile, node: Node, doc: string): string[] {
  const [type, ...fields] = source.membersOf(node);
  const told = fields.filter((field) => field.doc).map((field) => `${code(field.name)}: ${prose(field.doc)}`);
  const names = fields.map(({ name, isOptional }) => code(`${name}${isOptional ? '?' : ''}`)).join(', ');
  return [code(type.type.replaceAll("'", '')), names, [prose(doc), ...told].filter(Boolean).join('<br>')];
}

function errorTable(source: SourceFile): string {
  const rows = source.names().flatMap((name) => {
    const { node, doc } = source.find(name);
    const [, errorCode] = /super\(\s*'([a-z-]+)'/.exec(source.textOf(node)) ?? [];
    if (node.type !== 'ClassDeclaration' || errorCode === undefined) return [];
    const [meaning, remedy] = doc.split('@remedy');
    if (!remedy) throw new Error(`${name} names no @remedy.`);
    const { canRetry } = new VivaceError(errorCode, '');
    return [[code(errorCode), code(name), meaning.trim(), remedy.trim(), canRetry ? 'yes' : 'no']];
  });
  return table(['code', 'name', 'meaning', 'remedy', 'may succeed again'], rows);
}

/** A type as code, the parts of a union one a line. */
function typeText(source: SourceFile, name: string, node: Node): string {
  const parts: Node[] = node.type === 'TSUnionType' ? node.types : [node];
  const texts = parts.map((part) => source.textOf(part));
  const line = texts.join(' | ');
  return `\`\`\`ts\ntype ${name} =${line.length > 80 ? texts.map((text) => `\n  | ${text}`).join('') : ` ${line}`};\n\`\`\``;
}

const sources = new Map<string, SourceFile>();

function sourceOf(file: string): SourceFile {
  const source = sources.get(file) ?? new SourceFile(file);
  sources.set(file, source);
  return source;
}

/** The text of a line `{{KIND FILE NAME}}` of the template. @throws Error for one that is unknown */
export function written(kind: string, file: string, name: string): string {
  if (kind === 'options') return optionTable(file === 'load' ? LOAD_OPTIONS : GENERATE_OPTIONS);
  const source = sourceOf(file);
  if (kind === 'errors') return errorTable(source);
  const { node } = source.find(name);
  if (kind === 'methods') return methodList(source.membersOf(node), name);
  if (kind === 'fields') return memberTable(source.membersOf(node.typeAnnotation ?? node));
  if (kind === 'type') return typeText(source, name, node.typeAnnotation);
  if (kind !== 'events') throw new Error(`The template asks for ${kind}, which nothing writes.`);
  return table(['type', 'fields', 'meaning'], unionRows(source, node.typeAnnotation));
}
