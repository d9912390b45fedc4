import { MusterError } from '@muster/client';

/** The result of a call that may be refused. */
export type AttemptResult<Result> =
  | { readonly ok: true; readonly result: Result }
  | { readonly ok: false; readonly refusal: MusterError; readonly reason: string };

/** Waits for a call and returns a refusal as an outcome. Throws any other error. */
export async function attempt<Result>(call: Promise<Result>): Promise<AttemptResult<Result>> {
  try {
    return { ok: true, result: await call };
  } catch (refusal) {
    if (!(refusal instanceof MusterError)) throw refusal;
    return { ok: false, refusal, reason: refusal.reason ?? refusal.code };
  }
}

/** Counts equal words, as in `12 × moved, 4 × refused`. */
export function tally(words: Iterable<string>): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => `${count} × ${word}`).join(', ');
}

/**
 * Splits the cards among the players. All players work at the same time. Each handles their own cards in
 * order.
 */
export async function workTogether<Card, Player>(
  cards: readonly Card[],
  players: readonly Player[],
  work: (player: Player, card: Card, index: number) => Promise<void>,
): Promise<void> {
  await Promise.all(
    players.map(async (player, seat) => {
      const ownCards = cards.filter((_, index) => index % players.length === seat);
      for (const [index, card] of ownCards.entries()) await work(player, card, index);
    }),
  );
}

/** Returns the element at this index, and starts from the beginning after the last one. */
export function at<Element>(elements: readonly Element[], index: number): Element {
  const element = elements[index % elements.length];
  if (element === undefined) throw new Error('nothing to choose from');
  return element;
}
