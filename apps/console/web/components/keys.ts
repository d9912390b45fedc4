/**
 * Single-key shortcuts, which can be switched off because speech input and accidental key presses also
 * produce letters.
 */
import { useLayoutEffect, useRef, useSyncExternalStore } from 'react';

const storageKey = 'muster.keys';
const watchers = new Set<() => void>();
let isOn = localStorage.getItem(storageKey) !== 'off';

export const areKeysOn = (): boolean => isOn;

export function setKeysOn(on: boolean): void {
  isOn = on;
  localStorage.setItem(storageKey, on ? 'on' : 'off');
  for (const changed of watchers) changed();
}

export const useKeysOn = (): boolean =>
  useSyncExternalStore((changed) => {
    watchers.add(changed);
    return () => watchers.delete(changed);
  }, areKeysOn);

/** Returns true if the key press goes to a text field. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/**
 * Returns the element that received a key press. An editor in a shadow root appears to the page as a plain
 * element.
 */
export const targetOf = (event: Event): EventTarget | null => event.composedPath()[0] ?? event.target;

/** The first key of a two-key shortcut, until the second one is pressed. */
let firstKey = '';
let forgetTimer: ReturnType<typeof setTimeout> | undefined;
const rememberFirstKey = (key: string): void => {
  firstKey = key;
  clearTimeout(forgetTimer);
  if (key !== '') forgetTimer = setTimeout(() => (firstKey = ''), 1_500);
};

interface Pressed {
  readonly metaKey: boolean;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly target: EventTarget | null;
}
const isUnmodified = ({ metaKey, ctrlKey, altKey, target }: Pressed): boolean =>
  isOn && !metaKey && !ctrlKey && !altKey && !isTyping(target);

/** Returns true if the key is a shortcut by itself, rather than the second key of another one. */
export const isSingle = (event: Pressed): boolean => isUnmodified(event) && firstKey === '';

type KeyActions = Readonly<Record<string, () => void>>;
/** Shortcuts of the frame, followed by those of the page in it. */
const activeShortcuts: { readonly current: KeyActions }[] = [];

function handleKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || document.querySelector('dialog[open]') !== null) return;
  const { metaKey, ctrlKey, altKey, key } = event;
  // Ignore modifier keys.
  if (['Shift', 'Control', 'Alt', 'Meta'].includes(key)) return;
  const isMeant = isUnmodified({ metaKey, ctrlKey, altKey, target: targetOf(event) });
  const wanted = firstKey === '' ? key : `${firstKey} ${key}`;
  const act = isMeant
    ? activeShortcuts.findLast(({ current }) => wanted in current)?.current[wanted]
    : undefined;
  rememberFirstKey(isMeant && firstKey === '' && act === undefined && key === 'g' ? 'g' : '');
  if (act === undefined) return;
  event.preventDefault();
  act();
}

/**
 * Registers shortcuts of the page; `g i` means one key after the other. They are inactive while a dialog is
 * open.
 */
export function usePageKeys(acts: KeyActions): void {
  const latest = useRef(acts);
  latest.current = acts;
  // Register before the first paint, so that a key pressed on the visible page always works.
  useLayoutEffect(() => {
    if (activeShortcuts.length === 0) document.addEventListener('keydown', handleKey);
    activeShortcuts.push(latest);
    return () => {
      activeShortcuts.splice(activeShortcuts.indexOf(latest), 1);
      if (activeShortcuts.length === 0) document.removeEventListener('keydown', handleKey);
    };
  }, []);
}
