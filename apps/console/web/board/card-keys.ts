/** Handles keys on the focused card. */
import { type KeyboardEvent } from 'react';
import { type StoryCard } from '@muster/registry';
import { type Lane } from '../data/lanes.ts';
import { type ChooserField, chooserFieldOf } from '../components/choosing.ts';
import { isSingle } from '../components/keys.ts';
import { type useCardMoves } from './moving.ts';
import { positionOf, type WalkDirection, directionOf, nextCardPosition } from './walk.ts';

interface CardKeyActions {
  readonly lanes: readonly Lane[];
  readonly canWrite: boolean;
  readonly moves: ReturnType<typeof useCardMoves>;
  readonly focusCard: (id: string) => void;
  readonly toggle: (id: string) => void;
  readonly choose: (what: ChooserField, card: StoryCard) => void;
  /** Clears the selection; undefined if nothing is selected. */
  readonly clearSelection: (() => void) | undefined;
}

function moveFocus({ lanes, focusCard }: CardKeyActions, { id }: StoryCard, to: WalkDirection): void {
  const from = positionOf(lanes, id);
  const next = from === undefined ? undefined : nextCardPosition(lanes, from, to);
  const found = next === undefined ? undefined : lanes[next.lane]?.cards[next.row];
  if (found !== undefined) focusCard(found.id);
}

/** Performs the action that a key has on the focused card. Returns false if the key has no action there. */
function runKeyAction(acts: CardKeyActions, card: StoryCard, key: string): boolean {
  const { lanes, canWrite, moves, toggle, choose, clearSelection } = acts;
  const choice = chooserFieldOf(key);
  const to = directionOf(key);
  if (moves.moving !== null) {
    if (to !== undefined) moves.step(lanes, to);
    else if (key === ' ' || key === 'Enter') moves.drop();
    else if (key === 'Escape') moves.giveUp();
    else return false;
  } else if (to !== undefined) moveFocus(acts, card, to);
  else if (key === 'm' && canWrite) moves.begin(lanes, card);
  else if (key === 'x' && canWrite) toggle(card.id);
  else if (choice !== undefined && canWrite) choose(choice, card);
  else if (key === 'Escape' && clearSelection !== undefined) clearSelection();
  else return false;
  return true;
}

export function handleCardKey(acts: CardKeyActions, card: StoryCard, event: KeyboardEvent): void {
  if (!isSingle(event) || !runKeyAction(acts, card, event.key)) return;
  event.preventDefault();
  event.stopPropagation();
}
