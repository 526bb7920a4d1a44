// The events of answers as pieces of text for a terminal. Pure; runs in the page, so that pieces can leave in batches.

import type { EngineEvent } from '../../../src/engine/protocol';

/** What a piece belongs to: the answer, its thinking, or a complaint about a call or a loss. */
type Channel = 'answer' | 'thinking' | 'complaint';

export type Piece = readonly [channel: Channel, text: string];

/** Ends thinking with an empty line, and puts calls on lines of their own, as `→ name({"key":"value"})`. */
export class Transcript {
  private readonly pieces: Piece[] = [];
  private isInThinking = false;
  private isInCall = false;
  /** True if the answer's last line has text. */
  private isInLine = false;

  /** The pieces of an event. */
  add(event: EngineEvent): readonly Piece[] {
    this.pieces.length = 0;
    switch (event.type) {
      case 'reasoning':
        this.pieces.push(['thinking', event.text]);
        this.isInThinking = true;
        break;
      case 'tool-call':
        if (event.name !== undefined) this.openCall(event.name);
        this.say(event.arguments);
        break;
      case 'tool-call-error':
        this.closeCall();
        this.pieces.push(['complaint', `Call ${event.index + 1} cannot be made: ${event.message}\n${event.text}\n`]);
        break;
      case 'token':
      case 'done':
        if (event.text !== '' || event.type === 'done') this.closeCall();
        this.say(event.text);
        break;
      case 'interrupted':
        this.pieces.push(['complaint', `\n[${event.message} Loading the model again.]\n`]);
        break;
      case 'recovered':
        this.pieces.push(['complaint', `[The answer goes on after ${(event.pauseMs / 1000).toFixed(1)} s.]\n`]);
        break;
      default: // has no text
    }
    return this.pieces;
  }

  private openCall(name: string): void {
    this.closeCall();
    this.say(`${this.isInLine ? '\n' : ''}→ ${name}(`);
    this.isInCall = true;
  }

  private closeCall(): void {
    if (this.isInCall) this.say(')\n');
    this.isInCall = false;
  }

  private say(text: string): void {
    if (text === '') return;
    if (this.isInThinking) this.pieces.push(['thinking', '\n\n']);
    this.isInThinking = false;
    this.pieces.push(['answer', text]);
    this.isInLine = !text.endsWith('\n');
  }
}
