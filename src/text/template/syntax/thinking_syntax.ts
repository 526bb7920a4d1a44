// How a template shows thinking, and how it switches thinking on and off.

import type { Probe, ThinkingSyntax } from './chat_syntax';
import { TEXT, USER, user } from './needles';
import { callMessage } from './tool_syntax';

export interface ThinkingForm {
  readonly thinking: ThinkingSyntax | null;
  /** The field of a message that the template takes thinking from. */
  readonly thinkingField: string | null;
  /** The template takes thinking from the content. */
  readonly splitsContent: boolean;
  /** The variables that switch thinking on and off. */
  readonly switches: { readonly on: object; readonly off: object } | null;
}

const THINKING = 'xTHINKx';
const FIELDS = ['reasoning_content', 'reasoning', 'thinking', 'thought'];
/** A tag, perhaps with a word, as in `<|channel>thought`. */
const TAG = String.raw`(?:<[^<>]*>|\[[^\][]*\])`;
const OPEN = new RegExp(String.raw`${TAG}\w*\s*$`);
const CLOSE = new RegExp(String.raw`^\s*${TAG}\s*`);
const MAX_SWITCHES = 12;
const NEAR = 40;

export function readThinking(probe: Probe, source: string): ThinkingForm {
  const { field, open, close } = findInFields(probe) ?? findInSource(source) ?? { field: null, open: '', close: '' };
  if (open === '') return { thinking: null, thinkingField: null, splitsContent: false, switches: null };
  const switches = findSwitches(probe, source, open.trim(), close.trim());
  const earlier = { role: 'assistant', content: `${open}${THINKING}${close}${TEXT}` };
  return {
    thinking: { open, close, ability: switches ? 'optional' : 'always' },
    thinkingField: field,
    splitsContent: field === null && probe({ messages: [user, earlier, user] })?.includes(THINKING) === false,
    switches,
  };
}

function findInFields(probe: Probe) {
  for (const more of [{}, callMessage(1)]) {
    for (const field of FIELDS) {
      const shown = probe({ messages: [user, { role: 'assistant', ...more, content: TEXT, [field]: THINKING }] });
      const at = shown?.indexOf(THINKING) ?? -1;
      if (!shown || at < 0) continue;
      const open = OPEN.exec(shown.slice(0, at))?.[0];
      const close = CLOSE.exec(shown.slice(at + THINKING.length))?.[0];
      const asked = shown.indexOf(USER);
      // A tag that begins any message would split answers without thinking.
      const isCommon = open && shown.slice(Math.max(0, asked - NEAR), asked).includes(open.trim());
      return open && close && !isCommon ? { field, open, close } : null;
    }
  }
  return null;
}

/** The tags of thinking that the template looks for in a content. */
function findInSource(source: string) {
  const [, left, name, right] = /([<[])\/([\w:]*think[\w:]*)([>\]])/i.exec(source) ?? [];
  return left ? { field: null, open: `${left}${name}${right}\n`, close: `\n${left}/${name}${right}\n\n` } : null;
}

/**
 * The variable that changes the prompt the most, from a closed thinking over none to an opened one. Its values are true
 * and false, or those that the source compares it with.
 */
function findSwitches(probe: Probe, source: string, open: string, close: string): ThinkingForm['switches'] {
  const prompt = (more: object) => probe({ messages: [user], add_generation_prompt: true, ...more }) ?? '';
  const names = new Set(source.match(/(?<![\w.'"])\w*(?:think|reason)\w*(?![\w.'"(>\]])/gi));
  for (const name of [...names].slice(0, MAX_SWITCHES)) {
    if (prompt({ [name]: THINKING }).includes(THINKING)) continue; // a text that is shown, not a switch
    const compared = source.matchAll(new RegExp(`\\b${name}\\s*==\\s*['"](\\w+)['"]`, 'g'));
    const values = [true, false, ...[...compared].map(([, value]) => value).slice(0, MAX_SWITCHES)];
    const ranked = values.flatMap((value) => {
      const shown = prompt({ [name]: value });
      if (shown === '') return [];
      const tail = shown.slice(shown.lastIndexOf(USER));
      const [opened, closed] = [tail.lastIndexOf(open), tail.lastIndexOf(close)];
      return { value, shown, rank: closed > opened ? 0 : opened < 0 ? 1 : 2 };
    });
    const ranks = ranked.map(({ rank }) => rank);
    const pick = (rank: number) => ({ [name]: ranked.find((one) => one.rank === rank)!.value });
    const [least, most] = [Math.min(...ranks), Math.max(...ranks)];
    if (least < most) return { on: pick(most), off: pick(least) };
    const [first, second] = ranked;
    if (first?.value === true && second?.value === false && first.shown !== second.shown) {
      return { on: { [name]: true }, off: { [name]: false } };
    }
  }
  return null;
}
