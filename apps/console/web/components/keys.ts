/** Keys without a modifier, which can be switched off: speech input and stray hands type letters, too. */
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

/** Whether a key is being typed into something. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Where a key really went: an editor in a shadow root shows itself to the page as a plain element. */
export const targetOf = (event: Event): EventTarget | null => event.composedPath()[0] ?? event.target;

/** The first of two keys that belong together, until the second has come. */
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

/** Whether the key is one by itself that may act here: not the second of two. */
export const isSingle = (event: Pressed): boolean => isPlain(event) && first === '';

type Acts = Readonly<Record<string, () => void>>;
/** Of the frame and of the page in it. */
const heard: { readonly current: Acts }[] = [];

function hear(event: KeyboardEvent): void {
  if (event.defaultPrevented || document.querySelector('dialog[open]') !== null) return;
  const { metaKey, ctrlKey, altKey, key } = event;
  // Keys that are held beside others are none of their own.
  if (['Shift', 'Control', 'Alt', 'Meta'].includes(key)) return;
  const isMeant = isPlain({ metaKey, ctrlKey, altKey, target: targetOf(event) });
  const wanted = first === '' ? key : `${first} ${key}`;
  const act = isMeant ? heard.findLast(({ current }) => wanted in current)?.current[wanted] : undefined;
  begin(isMeant && first === '' && act === undefined && key === 'g' ? 'g' : '');
  if (act === undefined) return;
  event.preventDefault();
  act();
}

/** Keys of the whole page: `g i` is one after the other. What a dialog or a menu is open for, it gets. */
export function usePageKeys(acts: Acts): void {
  const latest = useRef(acts);
  latest.current = acts;
  // Before it is painted: a key that is pressed at what is seen is heard.
  useLayoutEffect(() => {
    if (heard.length === 0) document.addEventListener('keydown', hear);
    heard.push(latest);
    return () => {
      heard.splice(heard.indexOf(latest), 1);
      if (heard.length === 0) document.removeEventListener('keydown', hear);
    };
  }, []);
}
