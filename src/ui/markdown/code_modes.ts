// Colors of code: the modes of CodeMirror read it line by line, so that a line is colored once, when it is whole, and
// the time grows with the letters alone. Loaded when code appears (parts.ts). No DOM here.

import { c, cpp, csharp, dart, java, kotlin, objectiveC, scala } from '@codemirror/legacy-modes/mode/clike';
import { css } from '@codemirror/legacy-modes/mode/css';
import { diff } from '@codemirror/legacy-modes/mode/diff';
import { dockerFile } from '@codemirror/legacy-modes/mode/dockerfile';
import { go } from '@codemirror/legacy-modes/mode/go';
import { haskell } from '@codemirror/legacy-modes/mode/haskell';
import { javascript, json, typescript } from '@codemirror/legacy-modes/mode/javascript';
import { lua } from '@codemirror/legacy-modes/mode/lua';
import { powerShell } from '@codemirror/legacy-modes/mode/powershell';
import { python } from '@codemirror/legacy-modes/mode/python';
import { r } from '@codemirror/legacy-modes/mode/r';
import { ruby } from '@codemirror/legacy-modes/mode/ruby';
import { rust } from '@codemirror/legacy-modes/mode/rust';
import { shell } from '@codemirror/legacy-modes/mode/shell';
import { standardSQL } from '@codemirror/legacy-modes/mode/sql';
import { swift } from '@codemirror/legacy-modes/mode/swift';
import { toml } from '@codemirror/legacy-modes/mode/toml';
import { html, xml } from '@codemirror/legacy-modes/mode/xml';
import { yaml } from '@codemirror/legacy-modes/mode/yaml';
import { type StreamParser, StringStream } from '@codemirror/streamparser';

export type CodeColor = 'keyword' | 'string' | 'comment' | 'number' | 'name' | 'property' | 'inserted' | 'deleted';

/** Letters of one color, or of none. */
export interface ColoredPiece {
  text: string;
  color: CodeColor | null;
}

const TAB = 4;
const INDENT = 2;
/** Times that a mode may look at a place without taking a letter, to change its state. */
const MAX_LOOKS = 10;

/** The names that a fence may have for each mode. */
const MODES = new Map<string, StreamParser<unknown>>(
  (
    [
      ['js javascript jsx mjs cjs node', javascript],
      ['ts typescript tsx mts cts', typescript],
      ['json json5 jsonc jsonl', json],
      ['py python python3 py3 ipython', python],
      ['sh bash shell zsh console shell-session', shell],
      ['c h', c],
      ['cpp c++ cc cxx hpp cuda glsl hlsl', cpp],
      ['cs csharp c#', csharp],
      ['java', java],
      ['kotlin kt kts', kotlin],
      ['scala', scala],
      ['dart', dart],
      ['objc objectivec objective-c', objectiveC],
      ['css scss less', css],
      ['html htm vue svelte', html],
      ['xml svg', xml],
      ['sql mysql postgresql postgres sqlite', standardSQL],
      ['rust rs wgsl', rust],
      ['go golang', go],
      ['ruby rb', ruby],
      ['swift', swift],
      ['yaml yml', yaml],
      ['toml ini', toml],
      ['diff patch', diff],
      ['dockerfile docker', dockerFile],
      ['haskell hs', haskell],
      ['lua', lua],
      ['powershell ps1 pwsh', powerShell],
      ['r', r],
    ] as const
  ).flatMap(([names, mode]) => names.split(' ').map((name) => [name, mode] as const)),
);

/** Colors by the first word of what a mode says of its letters. Everything else has none. */
const COLORS = new Map<string, CodeColor>(
  (
    [
      ['keyword modifier operatorKeyword controlKeyword definitionKeyword moduleKeyword self', 'keyword'],
      ['string string-2 character regexp', 'string'],
      ['comment lineComment blockComment docComment', 'comment'],
      ['number atom bool null integer float unit', 'number'],
      ['def tag tagName typeName type className heading macroName builtin', 'name'],
      ['propertyName property attribute attributeName meta annotation processingInstruction', 'property'],
      ['inserted positive', 'inserted'],
      ['deleted negative', 'deleted'],
    ] as const
  ).flatMap(([words, color]) => words.split(' ').map((word) => [word, color] as const)),
);

function colorOf(style: string | null): CodeColor | null {
  if (!style) return null;
  const [name = '', ...more] = (style.split(' ')[0] ?? '').split('.');
  if (name === 'variableName') return more.some((word) => word === 'definition' || word === 'standard') ? 'name' : null;
  return COLORS.get(name) ?? null;
}

/** The colors of a block's lines, given in turn and without their ends. Null for a language that is not known. */
export function startColoring(language: string): ((line: string) => ColoredPiece[]) | null {
  const mode = MODES.get(language.toLowerCase());
  if (!mode) return null;
  const state = mode.startState?.(INDENT) ?? {};
  return (line) => colorLine(mode, state, line);
}

function colorLine(mode: StreamParser<unknown>, state: unknown, line: string): ColoredPiece[] {
  const pieces: ColoredPiece[] = [];
  if (line === '') mode.blankLine?.(state, INDENT);
  const stream = new StringStream(line, TAB, INDENT);
  while (!stream.eol()) {
    stream.start = stream.pos;
    let style: string | null = null;
    for (let looks = 0; stream.pos <= stream.start && looks < MAX_LOOKS; looks++) style = mode.token(stream, state);
    if (stream.pos <= stream.start) stream.pos = stream.start + 1;
    const color = colorOf(style);
    const text = line.slice(stream.start, stream.pos);
    const last = pieces.at(-1);
    if (last && last.color === color) last.text += text;
    else pieces.push({ text, color });
  }
  return pieces;
}
