/** Handles keys on the focused card. */
import { type KeyboardEvent } from 'react';
import { type StoryCard } from '@muster/registry';
import { type Lane } from '../data/lanes.ts';
import { type Choosing, choosingOf } from '../components/choosing.ts';
import { isSingle } from '../components/keys.ts';
import { type useMoving } from './moving.ts';
import { spotOf, type Step, stepOf, stepTo } from './walk.ts';

interface KeyActs {
  readonly lanes: readonly Lane[];
  readonly canWrite: boolean;
  readonly moves: ReturnType<typeof useMoving>;
  readonly focusCard: (id: string) => void;
  readonly toggle: (id: string) => void;
  readonly choose: (what: Choosing, card: StoryCard) => void;
  /** Clears the selection; undefined if nothing is selected. */
  readonly clearSelection: (() => void) | undefined;
}

function walk({ lanes, focusCard }: KeyActs, { id }: StoryCard, to: Step): void {
  const from = spotOf(lanes, id);
  const next = from === undefined ? undefined : stepTo(lanes, from, to);
  const found = next === undefined ? undefined : lanes[next.lane]?.cards[next.row];
  if (found !== undefined) focusCard(found.id);
}

/** Performs the action of a key. Returns true if the key has one here. */
function act(acts: KeyActs, card: StoryCard, key: string): boolean {
  const { lanes, canWrite, moves, toggle, choose, clearSelection } = acts;
  const choice = choosingOf(key);
  const to = stepOf(key);
  if (moves.moving !== null) {
    if (to !== undefined) moves.step(lanes, to);
    else if (key === ' ' || key === 'Enter') moves.drop();
    else if (key === 'Escape') moves.giveUp();
    else return false;
  } else if (to !== undefined) walk(acts, card, to);
  else if (key === 'm' && canWrite) moves.begin(lanes, card);
  else if (key === 'x' && canWrite) toggle(card.id);
  else if (choice !== undefined && canWrite) choose(choice, card);
  else if (key === 'Escape' && clearSelection !== undefined) clearSelection();
  else return false;
  return true;
}

export function pressAt(acts: KeyActs, card: StoryCard, event: KeyboardEvent): void {
  if (!isSingle(event) || !act(acts, card, event.key)) return;
  event.preventDefault();
  event.stopPropagation();
}
