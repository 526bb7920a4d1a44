// What this browser keeps of the panel's place: whether it stands open, and its width.

import { isJsonObject } from '../../shared/json_object';

export interface PanelState {
  isOpen: boolean;
  /** Pixels. */
  width: number;
}

export const CLOSED: PanelState = { isOpen: false, width: 400 };
export const LEAST_WIDTH = 320;
const MOST_WIDTH = 1200;
/** Room that the panel leaves to the list of conversations and the chat. */
const OTHERS_WIDTH = 240 + 380;
const KEY = 'vivace-panel';
const MOST_LETTERS = 200;

/** The widest panel in a window of this width. */
export function mostWidth(windowWidth: number): number {
  return Math.max(LEAST_WIDTH, Math.min(MOST_WIDTH, windowWidth - OTHERS_WIDTH));
}

/** The width as the window allows it. */
export function fitWidth(width: number, windowWidth: number): number {
  return Math.round(Math.min(mostWidth(windowWidth), Math.max(LEAST_WIDTH, width)));
}

/** The state in a stored text. Anything else than a state is a closed panel. */
export function parsePanelState(text: string | null): PanelState {
  if (text === null || text.length > MOST_LETTERS) return CLOSED;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return CLOSED;
  }
  if (!isJsonObject(value) || typeof value.isOpen !== 'boolean') return CLOSED;
  const { isOpen, width } = value;
  const isWidth = typeof width === 'number' && width >= LEAST_WIDTH && width <= MOST_WIDTH;
  return { isOpen, width: isWidth ? Math.round(width) : CLOSED.width };
}

export function readPanelState(): PanelState {
  try {
    return parsePanelState(localStorage.getItem(KEY));
  } catch {
    return CLOSED; // storage is refused, as in a cross-site frame
  }
}

export function writePanelState({ isOpen, width }: PanelState): void {
  try {
    localStorage.setItem(KEY, JSON.stringify({ isOpen, width }));
  } catch {
    // without storage the panel stays as it is for as long as the page
  }
}
