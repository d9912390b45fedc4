/** Handles keys on the focused card. */
import { type KeyboardEvent } from 'react';
import { type StoryCard } from '@muster/registry';
import { type Lane } from '../data/lanes.ts';
import { type ChooserField, chooserFieldOf } from '../components/choosing.ts';
import { isSingleKeyShortcut } from '../components/keys.ts';
import { type useCardMoves } from './moving.ts';
import { findCardPosition, type NavigationDirection, directionForKey, nextCardPosition } from './walk.ts';

interface CardKeyActions {
  readonly lanes: readonly Lane[];
  readonly canWrite: boolean;
  readonly moves: ReturnType<typeof useCardMoves>;
  readonly focusCard: (id: string) => void;
  readonly toggleSelection: (id: string) => void;
  readonly openChooser: (what: ChooserField, card: StoryCard) => void;
  /** Clears the selection; undefined if nothing is selected. */
  readonly clearSelection: (() => void) | undefined;
}

function moveFocus(
  { lanes, focusCard }: CardKeyActions,
  { id }: StoryCard,
  direction: NavigationDirection,
): void {
  const from = findCardPosition(lanes, id);
  const next = from === undefined ? undefined : nextCardPosition(lanes, from, direction);
  const found = next === undefined ? undefined : lanes[next.lane]?.cards[next.row];
  if (found !== undefined) focusCard(found.id);
}

/** Performs the action that a key has on the focused card. Returns false if the key has no action there. */
function runKeyAction(actions: CardKeyActions, card: StoryCard, key: string): boolean {
  const { lanes, canWrite, moves, toggleSelection, openChooser, clearSelection } = actions;
  const choice = chooserFieldOf(key);
  const to = directionForKey(key);
  if (moves.moving !== null) {
    if (to !== undefined) moves.step(lanes, to);
    else if (key === ' ' || key === 'Enter') moves.drop();
    else if (key === 'Escape') moves.giveUp();
    else return false;
  } else if (to !== undefined) moveFocus(actions, card, to);
  else if (key === 'm' && canWrite) moves.begin(lanes, card);
  else if (key === 'x' && canWrite) toggleSelection(card.id);
  else if (choice !== undefined && canWrite) openChooser(choice, card);
  else if (key === 'Escape' && clearSelection !== undefined) clearSelection();
  else return false;
  return true;
}

export function handleCardKey(actions: CardKeyActions, card: StoryCard, event: KeyboardEvent): void {
  if (!isSingleKeyShortcut(event) || !runKeyAction(actions, card, event.key)) return;
  event.preventDefault();
  event.stopPropagation();
}
