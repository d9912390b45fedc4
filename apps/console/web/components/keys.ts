/**
 * Single-key shortcuts, which can be switched off because speech input and accidental key presses also
 * produce letters.
 */
import { useLayoutEffect, useRef, useSyncExternalStore } from 'react';

const place = 'muster.keys';
const watchers = new Set<() => void>();
let isOn = localStorage.getItem(place) !== 'off';

export const areKeysOn = (): boolean => isOn;

export function switchKeys(on: boolean): void {
  isOn = on;
  localStorage.setItem(place, on ? 'on' : 'off');
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
let first = '';
let forget: ReturnType<typeof setTimeout> | undefined;
const begin = (key: string): void => {
  first = key;
  clearTimeout(forget);
  if (key !== '') forget = setTimeout(() => (first = ''), 1_500);
};

interface Pressed {
  readonly metaKey: boolean;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly target: EventTarget | null;
}
const isPlain = ({ metaKey, ctrlKey, altKey, target }: Pressed): boolean =>
  isOn && !metaKey && !ctrlKey && !altKey && !isTyping(target);

/** Returns true if the key is a shortcut by itself, rather than the second key of another one. */
export const isSingle = (event: Pressed): boolean => isPlain(event) && first === '';

type Acts = Readonly<Record<string, () => void>>;
/** Shortcuts of the frame, followed by those of the page in it. */
const heard: { readonly current: Acts }[] = [];

function hear(event: KeyboardEvent): void {
  if (event.defaultPrevented || document.querySelector('dialog[open]') !== null) return;
  const { metaKey, ctrlKey, altKey, key } = event;
  // Ignore modifier keys.
  if (['Shift', 'Control', 'Alt', 'Meta'].includes(key)) return;
  const isMeant = isPlain({ metaKey, ctrlKey, altKey, target: targetOf(event) });
  const wanted = first === '' ? key : `${first} ${key}`;
  const act = isMeant ? heard.findLast(({ current }) => wanted in current)?.current[wanted] : undefined;
  begin(isMeant && first === '' && act === undefined && key === 'g' ? 'g' : '');
  if (act === undefined) return;
  event.preventDefault();
  act();
}

/**
 * Registers shortcuts of the page; `g i` means one key after the other. They are inactive while a dialog is
 * open.
 */
export function usePageKeys(acts: Acts): void {
  const latest = useRef(acts);
  latest.current = acts;
  // Register before the first paint, so that a key pressed on the visible page always works.
  useLayoutEffect(() => {
    if (heard.length === 0) document.addEventListener('keydown', hear);
    heard.push(latest);
    return () => {
      heard.splice(heard.indexOf(latest), 1);
      if (heard.length === 0) document.removeEventListener('keydown', hear);
    };
  }, []);
}
