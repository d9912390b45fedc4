import { MusterError } from '@muster/client';

/** What became of a call that may be refused. */
export type Outcome<Result> =
  | { readonly ok: true; readonly result: Result }
  | { readonly ok: false; readonly refusal: MusterError; readonly reason: string };

/** Waits for a call; a refusal is an outcome, anything else that goes wrong is thrown. */
export async function attempt<Result>(call: Promise<Result>): Promise<Outcome<Result>> {
  try {
    return { ok: true, result: await call };
  } catch (refusal) {
    if (!(refusal instanceof MusterError)) throw refusal;
    return { ok: false, refusal, reason: refusal.reason ?? refusal.code };
  }
}

/** All calls on their way at once; their outcomes in order. */
export const attemptAll = <Result>(calls: readonly Promise<Result>[]): Promise<Outcome<Result>[]> =>
  Promise.all(calls.map((call) => attempt(call)));

export const results = <Result>(outcomes: readonly Outcome<Result>[]): Result[] =>
  outcomes.flatMap((outcome) => (outcome.ok ? [outcome.result] : []));

/** How often each thing was said, as in `12 × moved, 4 × refused`; nothing where there is nothing. */
export function tally(words: Iterable<string>): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => `${count} × ${word}`).join(', ');
}

/** Deals cards to players in turn, as with a pack of cards. */
export function deal<Card, Player>(cards: readonly Card[], players: readonly Player[]): [Player, Card[]][] {
  return players.map((player, seat) => [player, cards.filter((_, index) => index % players.length === seat)]);
}

/** Each player works through their own cards in order, all players at once. */
export async function workTogether<Card, Player>(
  hands: readonly (readonly [Player, readonly Card[]])[],
  work: (player: Player, card: Card, index: number) => Promise<void>,
): Promise<void> {
  await Promise.all(
    hands.map(async ([player, cards]) => {
      for (const [index, card] of cards.entries()) await work(player, card, index);
    }),
  );
}

/** The element there; the tour chose the index within the bounds. */
export function at<Element>(elements: readonly Element[], index: number): Element {
  const element = elements[index % elements.length];
  if (element === undefined) throw new Error('nothing to choose from');
  return element;
}
