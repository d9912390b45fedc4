/**
 * Opens one of a card's choice menus, such as assignee or priority, by a key or from the card's action menu. The
 * choice menus are loaded after the board has rendered.
 */
import { useEffect, useState } from 'react';
import { type StoryCard } from '@muster/contract';
import { preload, lazyComponent } from '../components/lazily.ts';
import { type ChooserField } from '../components/choosing.ts';
import { type CardChooserProps } from './card-chooser.tsx';

interface OpenChooser {
  readonly what: ChooserField;
  readonly card: StoryCard;
  /** The element at which the menu opens; by default the card. */
  readonly opener?: HTMLElement | undefined;
}

const importCardChooser = () => import('./card-chooser.tsx');
const CardChooser = lazyComponent(importCardChooser);

export function useCardChooser(props: Omit<CardChooserProps, keyof OpenChooser | 'anchor' | 'onClose'>) {
  const [chosen, setChosen] = useState<OpenChooser | null>(null);
  useEffect(() => preload(importCardChooser), []);
  return {
    isChoosing: chosen !== null,
    /** Opens a menu at a card. */
    choose: (what: ChooserField, card: StoryCard, opener?: HTMLElement): void =>
      setChosen({ what, card, opener }),
    giveUp: () => setChosen(null),
    chooser: (area: () => HTMLElement | null) =>
      chosen !== null && (
        <CardChooser
          key={`${chosen.what} ${chosen.card.id}`}
          {...props}
          what={chosen.what}
          card={chosen.card}
          anchor={() =>
            chosen.opener?.isConnected === true
              ? chosen.opener
              : (area()?.querySelector<HTMLElement>(`[data-card="${chosen.card.id}"]`) ?? null)
          }
          onClose={(isBack) => {
            setChosen(null);
            if (isBack) props.focusCard(chosen.card.id);
          }}
        />
      ),
  };
}
