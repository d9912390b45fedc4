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

/** Whether the key is one by itself that may act here. */
export const isSingle = (event: {
  readonly metaKey: boolean;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly target: EventTarget | null;
}): boolean => isOn && !event.metaKey && !event.ctrlKey && !event.altKey && !isTyping(event.target);

/** Keys of the whole page: `g i` is one after the other. What a dialog or a menu is open for, it gets. */
export function usePageKeys(acts: Readonly<Record<string, () => void>>): void {
  const latest = useRef(acts);
  latest.current = acts;
  // Before it is painted: a key that is pressed at what is seen is heard.
  useLayoutEffect(() => {
    let first = '';
    let forget: ReturnType<typeof setTimeout> | undefined;
    const hear = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || document.querySelector('dialog[open]') !== null) return;
      const { metaKey, ctrlKey, altKey } = event;
      if (!isSingle({ metaKey, ctrlKey, altKey, target: targetOf(event) })) return;
      clearTimeout(forget);
      const act = latest.current[first === '' ? event.key : `${first} ${event.key}`];
      first = first === '' && act === undefined && event.key === 'g' ? 'g' : '';
      forget = setTimeout(() => (first = ''), 1_500);
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', hear);
    return () => {
      document.removeEventListener('keydown', hear);
      clearTimeout(forget);
    };
  }, []);
}
