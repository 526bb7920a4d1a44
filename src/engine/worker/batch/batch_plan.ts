// Which requests step together, and the slots of their batch: by memory, and by what batches of the model have told.

import { automatonBytes } from '../../../grammar/packed';
import { mostThatFit } from '../../../shared/most_that_fit';
import { type Batching, MOST_AUTOMATON_BYTES } from '../../backend/backend';
import type { Session } from '../request/session';
import type { AnswerBeside } from '../turns/beside';

/** Fewer tokens of an answer are not worth the two copies. */
export const WORTH_TOKENS = 16;
/** Room of a slot beyond the conversation that makes fewer slots the better choice. */
const GOOD_ROOM = 256;
/** Rooms of slots differ by so many positions, where memory is short. */
const ROOM_STEP = 256;
/** Most of the free budget that slots take: conversations beside them are worth the rest. */
const SLOTS_SHARE = 3 / 4;

/** Milliseconds for which a cost that is not sure is believed: a GPU that works has its full speed by then. */
const UNSURE_MS = 2000;

/** Slots, and positions of each. */
type BatchShape = Pick<Batching, 'slots' | 'room'>;

/** What steps of a batch may not be able to do on a GPU. */
export type BatchAbility = 'logprobs' | 'constraint';

export class BatchPlan {
  /** True where no batch can be made, whoever asks. */
  isRefused = false;
  /** Most positions of all slots together, as far as buffers and memory of this GPU have told. */
  mostPositions = Number.POSITIVE_INFINITY;
  /** The cost of a step by its requests, once a batch has told it, and the time until which it is believed. */
  private cost: Batching['cost'] | null = null;
  private costUntil = 0;
  /** What steps of a batch cannot do on this GPU. */
  readonly refused = new Set<BatchAbility>();
  /** Tokens of each conversation when it last asked for a seat, or left one. */
  private readonly lengths = new WeakMap<AnswerBeside, number>();
  private preparing: { isOver: boolean } | null = null;

  /** @param mostSlots requests that may run at a time */
  constructor(
    private readonly session: Session,
    private readonly mostSlots: () => number,
    private readonly now: () => number,
  ) {}

  /** Notes what steps of a batch cost. Where that is not sure, a later batch is to find it anew. */
  learnCost({ cost, isCostSure }: Pick<Batching, 'cost' | 'isCostSure'>): void {
    this.cost = cost;
    this.costUntil = isCostSure ? Number.POSITIVE_INFINITY : this.now() + UNSURE_MS;
  }

  /** Notes the tokens of a conversation. */
  note(turns: AnswerBeside, tokens: number): void {
    this.lengths.set(turns, tokens);
  }

  /** True if a batch does all that the answer asks of a step. */
  canStep({ asked: { constraint, sampling, runAhead }, turn }: AnswerBeside): boolean {
    if (runAhead.asked !== 'auto' || turn === undefined) return false;
    if (sampling.logprobs !== null && this.refused.has('logprobs')) return false;
    if (!constraint) return true;
    return !this.refused.has('constraint') && automatonBytes(constraint.automaton) <= MOST_AUTOMATON_BYTES;
  }

  /** True once the steps of such a batch are compiled; until then requests take turns. */
  isPrepared({ slots, room }: BatchShape): boolean {
    if (!this.preparing) {
      const preparing = { isOver: false };
      const over = (canStep: boolean) => {
        preparing.isOver = true;
        this.isRefused = !canStep;
      };
      this.session.backend.prepareBatch?.(slots, room).then(over, () => over(true)); // who opens the batch hears of it
      this.preparing = preparing;
    }
    return this.preparing.isOver;
  }

  /** The slots of a batch for a conversation of so many tokens, and the room of each. Null: no room for two. */
  shapeFor(tokens: number): BatchShape | null {
    const { backend, branches } = this.session;
    if (!branches) return null;
    const most = backend.contextLength;
    for (let slots = this.mostSlots(); slots > 1; slots--) {
      const bound = Math.min(most, Math.floor(this.mostPositions / slots));
      const fits = mostThatFit(bound, (each) => slots * branches.bytesOf(each) <= SLOTS_SHARE * branches.free);
      // Sizes that come again find their shaders compiled.
      const room = fits < most && fits > ROOM_STEP ? fits - (fits % ROOM_STEP) : fits;
      if (room >= Math.min(most, tokens + (slots > 2 ? GOOD_ROOM : WORTH_TOKENS))) return { slots, room };
    }
    return null;
  }

  /**
   * True where requests step faster together than in turns: there are two at least, and a step of the batch takes less
   * time than a step of each, as far as that is known.
   */
  isWorth({ slots, room }: BatchShape): boolean {
    const together = Math.min(slots, this.candidates(room));
    const cost = this.now() < this.costUntil ? this.cost : null;
    return together > Math.max(1, cost?.(together) ?? 0);
  }

  /** Running requests that could step together in slots of so many positions. */
  private candidates(room: number): number {
    const running = [...(this.session.batches?.running ?? [])];
    const lengthOf = (turns: AnswerBeside) => this.lengths.get(turns) ?? turns.asked.prompt.length + 1;
    return running.filter((turns) => this.canStep(turns) && lengthOf(turns) + WORTH_TOKENS <= room).length;
  }
}
