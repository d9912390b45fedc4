/**
 * Single-key shortcuts, which can be switched off because speech input and accidental key presses also
 * produce letters.
 */
import { useLayoutEffect, useRef, useSyncExternalStore } from 'react';

const shortcutsStorageKey = 'muster.keys';
const listeners = new Set<() => void>();
let shortcutsEnabled = localStorage.getItem(shortcutsStorageKey) !== 'off';

export const areShortcutsEnabled = (): boolean => shortcutsEnabled;

export function setShortcutsEnabled(isEnabled: boolean): void {
  shortcutsEnabled = isEnabled;
  localStorage.setItem(shortcutsStorageKey, isEnabled ? 'on' : 'off');
  for (const changed of listeners) changed();
}

export const useShortcutsEnabled = (): boolean =>
  useSyncExternalStore((changed) => {
    listeners.add(changed);
    return () => listeners.delete(changed);
  }, areShortcutsEnabled);

/** Returns true if the key press goes to a text field. */
export const isTextField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/**
 * Returns the element that received a key press. An editor in a shadow root appears to the page as a plain
 * element.
 */
export const eventTargetOf = (event: Event): EventTarget | null => event.composedPath()[0] ?? event.target;

/** The first key of a two-key shortcut, until the second one is pressed. */
let pendingFirstKey = '';
let firstKeyTimer: ReturnType<typeof setTimeout> | undefined;
const rememberFirstKey = (key: string): void => {
  pendingFirstKey = key;
  clearTimeout(firstKeyTimer);
  if (key !== '') firstKeyTimer = setTimeout(() => (pendingFirstKey = ''), 1_500);
};

interface KeyPress {
  readonly metaKey: boolean;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly target: EventTarget | null;
}
const isUnmodified = ({ metaKey, ctrlKey, altKey, target }: KeyPress): boolean =>
  shortcutsEnabled && !metaKey && !ctrlKey && !altKey && !isTextField(target);

/** Returns true if the key is a shortcut by itself, rather than the second key of another one. */
export const isSingleKeyShortcut = (event: KeyPress): boolean =>
  isUnmodified(event) && pendingFirstKey === '';

type ShortcutActions = Readonly<Record<string, () => void>>;
/** Shortcuts of the frame, followed by those of the page in it. */
const activeShortcuts: { readonly current: ShortcutActions }[] = [];

function handleShortcutKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || document.querySelector('dialog[open]') !== null) return;
  const { metaKey, ctrlKey, altKey, key } = event;
  // Ignore modifier keys.
  if (['Shift', 'Control', 'Alt', 'Meta'].includes(key)) return;
  const isMeant = isUnmodified({ metaKey, ctrlKey, altKey, target: eventTargetOf(event) });
  const wanted = pendingFirstKey === '' ? key : `${pendingFirstKey} ${key}`;
  const act = isMeant
    ? activeShortcuts.findLast(({ current }) => wanted in current)?.current[wanted]
    : undefined;
  rememberFirstKey(isMeant && pendingFirstKey === '' && act === undefined && key === 'g' ? 'g' : '');
  if (act === undefined) return;
  event.preventDefault();
  act();
}

/**
 * Registers shortcuts of the page; `g i` means one key after the other. They are inactive while a dialog is
 * open.
 */
export function usePageShortcuts(actions: ShortcutActions): void {
  const latest = useRef(actions);
  latest.current = actions;
  // Register before the first paint, so that a key pressed on the visible page always works.
  useLayoutEffect(() => {
    if (activeShortcuts.length === 0) document.addEventListener('keydown', handleShortcutKey);
    activeShortcuts.push(latest);
    return () => {
      activeShortcuts.splice(activeShortcuts.indexOf(latest), 1);
      if (activeShortcuts.length === 0) document.removeEventListener('keydown', handleShortcutKey);
    };
  }, []);
}
