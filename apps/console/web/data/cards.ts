/**
 * The cards of one board, as the server's answers say. Answers overtake each other, and much of a card has no version: who
 * reviews it, who works on it. So an answer to an earlier question changes nothing that a later one has told.
 */
import { type StoryCard } from '@muster/registry';

export class Cards {
  readonly #cards = new Map<string, StoryCard>();
  /** The latest question whose answer told of the card, or that it is gone. */
  readonly #told = new Map<string, number>();
  /** Cards that a write made, and the last question that was asked before it was answered. */
  readonly #made = new Map<string, number>();
  readonly #onChange: () => void;
  #questions = 0;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  readonly get = (id: string): StoryCard | undefined => this.#cards.get(id);
  readonly all = (): ReadonlyMap<string, StoryCard> => this.#cards;

  /** The number of a question that is asked now. */
  ask(): number {
    this.#questions += 1;
    return this.#questions;
  }

  /** What the question was answered with. A higher version is newer whenever it was asked for. */
  keep(cards: readonly StoryCard[], question: number): void {
    for (const card of cards) {
      const { id, version } = card;
      const known = this.#cards.get(id);
      if (known !== undefined && known.version > version) continue;
      if (this.#isTold(id, question) && (known === undefined || known.version === version)) continue;
      this.#told.set(id, Math.max(question, this.#told.get(id) ?? 0));
      this.#put(card);
    }
  }

  /** The question was answered without the card. */
  drop(id: string, question: number): void {
    if (this.#isTold(id, question) || (this.#made.get(id) ?? 0) >= question) return;
    this.#told.set(id, question);
    if (this.#cards.delete(id)) this.#onChange();
  }

  /** What a write answered: it has not all of a card, so that a question of before may tell more. */
  adopt(card: StoryCard): void {
    const known = this.#cards.get(card.id);
    if (known === undefined) this.#made.set(card.id, this.#questions);
    else if (known.version > card.version) return;
    this.#put(card);
  }

  /** What was asked for, shown before it is answered. */
  patch(id: string, patch: Partial<StoryCard>): void {
    const known = this.#cards.get(id);
    if (known !== undefined) this.#put({ ...known, ...patch });
  }

  #isTold(id: string, question: number): boolean {
    return (this.#told.get(id) ?? 0) > question;
  }

  #put(card: StoryCard): void {
    this.#cards.set(card.id, card);
    this.#onChange();
  }
}
