/**
 * Opens the menu of a card, by a key or by the card's own menu. The menu is loaded after the board has
 * rendered.
 */
import { Suspense, useEffect, useState } from 'react';
import { type StoryCard } from '@muster/registry';
import { type Board } from '../data/boards.ts';
import { type Lane, type Place } from '../data/lanes.ts';
import { fetchEarly, lazily } from '../components/lazily.ts';
import { type Choosing } from '../components/choosing.ts';

interface Chosen {
  readonly what: Choosing;
  readonly card: StoryCard;
  readonly cards: readonly StoryCard[];
}

const load = () => import('./card-chooser.tsx');
const CardChooser = lazily(load);

export function useChoosing(
  board: Board,
  move: (card: StoryCard, place: Place) => Promise<void>,
  focusCard: (id: string) => void,
  onSelect: (ids: ReadonlySet<string>) => void,
) {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  useEffect(() => fetchEarly(load), []);
  return {
    isChoosing: chosen !== null,
    /** Opens a menu at `card` for all of `cards`. */
    choose: (what: Choosing, card: StoryCard, cards: readonly StoryCard[]) =>
      setChosen({ what, card, cards }),
    giveUp: () => setChosen(null),
    chooser: (lanes: readonly Lane[], area: () => HTMLElement | null) =>
      chosen !== null && (
        <Suspense fallback={null}>
          <CardChooser
            key={`${chosen.what} ${chosen.card.id}`}
            {...{ ...chosen, board, lanes, move, focusCard, onSelect }}
            anchor={() => area()?.querySelector<HTMLElement>(`[data-card="${chosen.card.id}"]`) ?? null}
            onClose={(isBack) => {
              setChosen(null);
              if (isBack) focusCard(chosen.card.id);
            }}
          />
        </Suspense>
      ),
  };
}
