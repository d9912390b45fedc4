import { type RefObject, useEffect, useRef, useState } from 'react';

/** For the button that opens a form in its own place: it has the focus again when the form is closed. */
export function useFocusBack<Opener extends HTMLElement = HTMLButtonElement>(
  isOpen: boolean,
): RefObject<Opener | null> {
  const opener = useRef<Opener>(null);
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    const { activeElement } = document;
    if (wasOpen.current && !isOpen && (activeElement === null || activeElement === document.body))
      opener.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  return opener;
}

const fields = 'input:not([readonly], [disabled], [type="hidden"]), textarea, select';

/**
 * For a form that takes the place of the button that opened it: its first field has the focus, and when it is closed the
 * button that is there again, known by its words, in the same section.
 */
export function useFormFocus(isOpened: boolean): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  // While it is drawn for the first time the button is there still.
  const [opener] = useState(() => document.activeElement);
  useEffect(() => {
    const element = form.current;
    const section = element?.closest('section');
    if (!isOpened || element === null || section == null) return undefined;
    element.querySelector<HTMLElement>(fields)?.focus();
    const words = opener?.textContent ?? '';
    return () => {
      const { activeElement } = document;
      if (activeElement !== null && activeElement !== document.body) return;
      const buttons = [...section.querySelectorAll('button')];
      (buttons.find(({ textContent }) => textContent === words) ?? buttons[0])?.focus();
    };
  }, [isOpened, opener]);
  return form;
}
