/**
 * The cards of a board, merged from the server's responses. Responses may arrive out of order, and parts of a
 * card have no version, such as its reviewers and holder. Therefore a response to an earlier request never
 * overrides one to a later request.
 */
import { type StoryCard } from '@muster/contract';

export class Cards {
  readonly #cards = new Map<string, StoryCard>();
  /** The number of the latest request whose response contained the card, or showed that it is gone. */
  readonly #told = new Map<string, number>();
  /**
   * Cards that were created by a write, each with the number of the last request that was sent before the
   * write's response.
   */
  readonly #made = new Map<string, number>();
  readonly #onChange: () => void;
  #questions = 0;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  readonly get = (id: string): StoryCard | undefined => this.#cards.get(id);
  readonly all = (): ReadonlyMap<string, StoryCard> => this.#cards;

  /** Returns the number of a request that is about to be sent. Later requests get higher numbers. */
  nextRequestId(): number {
    this.#questions += 1;
    return this.#questions;
  }

  /** Stores the cards of a response. A higher version is always newer, whatever the order of the requests. */
  storeResponse(cards: readonly StoryCard[], requestId: number): void {
    for (const card of cards) {
      const { id, version } = card;
      const known = this.#cards.get(id);
      if (known !== undefined && known.version > version) continue;
      if (this.#isTold(id, requestId) && (known === undefined || known.version === version)) continue;
      this.#told.set(id, Math.max(requestId, this.#told.get(id) ?? 0));
      this.#put(card);
    }
  }

  /** Removes a card that is missing from the response to a request. */
  removeMissing(id: string, requestId: number): void {
    if (this.#isTold(id, requestId) || (this.#made.get(id) ?? 0) >= requestId) return;
    this.#told.set(id, requestId);
    if (this.#cards.delete(id)) this.#onChange();
  }

  /**
   * Stores the card from the response of a write. That response lacks parts of a card, so a response to an
   * earlier request may still add them.
   */
  storeWrittenCard(card: StoryCard): void {
    const known = this.#cards.get(card.id);
    if (known === undefined) this.#made.set(card.id, this.#questions);
    else if (known.version > card.version) return;
    this.#put(card);
  }

  /** Shows a change before its response arrives. */
  applyPatch(id: string, patch: Partial<StoryCard>): void {
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
