/** Handles keys on the focused story. */
import { type KeyboardEvent } from 'react';
import { type StoryCard } from '@muster/contract';
import { type Lane } from '../data/lanes.ts';
import { type ChooserField, chooserFieldOf } from '../components/choosing.ts';
import { isSingleKeyShortcut } from '../components/keys.ts';
import { type useCardMoves } from './moving.ts';
import { type NavigationDirection, directionForKey } from './walk.ts';

export interface CardKeyActions {
  readonly canWrite: (card: StoryCard) => boolean;
  readonly moves: ReturnType<typeof useCardMoves>;
  /** The columns in which keys move the cards; undefined if the stories are not in columns. */
  readonly lanes: readonly Lane[] | undefined;
  /** Moves the focus from this element. */
  readonly walk: (from: HTMLElement, card: StoryCard, direction: NavigationDirection) => void;
  readonly toggleSelection: (id: string) => void;
  readonly openChooser: (what: ChooserField, card: StoryCard) => void;
  /** Clears the selection; undefined if nothing is selected. */
  readonly clearSelection: (() => void) | undefined;
  /** Closes the menu that is loading; undefined if there is none. */
  readonly closeLoadingMenu: (() => void) | undefined;
}

/** Performs the action that a key has on the focused story. Returns false if the key has no action there. */
function runKeyAction(actions: CardKeyActions, target: HTMLElement, card: StoryCard, key: string): boolean {
  const { lanes, canWrite, moves, walk, toggleSelection, openChooser } = actions;
  const { clearSelection, closeLoadingMenu } = actions;
  const choice = chooserFieldOf(key);
  const to = directionForKey(key);
  if (closeLoadingMenu !== undefined) {
    // Keys that are typed while a menu loads are meant for the menu.
    if (key === 'Escape') closeLoadingMenu();
  } else if (moves.moving !== null && lanes !== undefined) {
    if (to !== undefined) moves.step(lanes, to);
    else if (key === ' ' || key === 'Enter') moves.drop();
    else if (key === 'Escape') moves.giveUp();
    else return false;
  } else if (to !== undefined) walk(target, card, to);
  else if (key === 'm' && lanes !== undefined && canWrite(card)) moves.begin(lanes, card);
  else if (key === 'x' && canWrite(card)) toggleSelection(card.id);
  else if (choice !== undefined && canWrite(card)) openChooser(choice, card);
  else if (key === 'Escape' && clearSelection !== undefined) clearSelection();
  else return false;
  return true;
}

export function handleCardKey(
  event: KeyboardEvent,
  findCard: (id: string) => StoryCard | undefined,
  actions: CardKeyActions,
): void {
  const { target } = event;
  if (!(target instanceof HTMLElement) || !isSingleKeyShortcut(event)) return;
  const card = findCard(target.dataset['card'] ?? '');
  if (card === undefined || !runKeyAction(actions, target, card, event.key)) return;
  event.preventDefault();
  event.stopPropagation();
}
