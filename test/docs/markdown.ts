// Reads the project's Markdown: links, headings, fenced code and code inside lines.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../tools/lib/ensure.mjs';

interface Fence {
  language: string;
  text: string;
  /** The line of its first line of code, from 1. */
  line: number;
}

export interface Page {
  /** Path from the root. */
  file: string;
  /** Everything but fenced code. */
  prose: string;
  fences: readonly Fence[];
}

const below = (folder: string, recursive = false): string[] =>
  readdirSync(path.join(ROOT, folder), { recursive, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.posix.join(folder, name.split(path.sep).join('/')));

/** The pages for users and contributors. */
export const FILES: readonly string[] = [
  ...['.', 'docs', 'deploy', '.github/ISSUE_TEMPLATE'].flatMap((folder) => below(folder)),
  ...below('examples', true),
];

/** READMEs of rooms, whose links are checked, too. */
export const ROOMS: readonly string[] = [
  ...['src', 'shaders', 'tools', 'bench'].flatMap((folder) => below(folder, true)),
  'public/models/storyteller/README.md',
].filter((file) => file !== 'tools/docs/api_template.md'); // its links are those of docs/api.md

export function read(file: string): Page {
  const fences: Fence[] = [];
  const prose: string[] = [];
  let open: { language: string; lines: string[]; line: number } | null = null;
  for (const [i, line] of readFileSync(path.join(ROOT, file), 'utf8').split('\n').entries()) {
    const [, language] = /^\s*```(\w*)/.exec(line) ?? [];
    if (open && language === '') {
      fences.push({ language: open.language, text: open.lines.join('\n'), line: open.line });
      open = null;
    } else if (open) open.lines.push(line);
    else if (language !== undefined) open = { language, lines: [], line: i + 2 };
    else prose.push(line);
  }
  return { file, prose: prose.join('\n'), fences };
}

/** The targets of all links and pictures, without those in code. */
export function linksOf({ prose }: Page): string[] {
  const text = prose.replace(/`[^`\n]*`/g, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target);
}

/** The anchors of headings, as GitHub makes them. */
export function anchorsOf({ prose }: Page): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading] of prose.matchAll(/^#+ (.*)$/gm)) {
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = words
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-');
    const taken = [...anchors].filter((one) => one === anchor || one.startsWith(`${anchor}-`)).length;
    anchors.add(anchors.has(anchor) ? `${anchor}-${taken}` : anchor);
  }
  return anchors;
}

/** The code inside lines. */
export function inlineCodeOf({ prose }: Page): string[] {
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code);
}
