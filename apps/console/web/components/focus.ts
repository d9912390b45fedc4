import { type RefObject, useEffect, useRef, useState } from 'react';

/** Returns the focus to the button that opened an inline form when the form closes. */
export function useReturnFocus<Opener extends HTMLElement = HTMLButtonElement>(
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

const fieldSelector = 'input:not([readonly], [disabled], [type="hidden"]), textarea, select';

/**
 * Moves the focus to the first field of a form that replaced its button. When the form closes, the focus
 * returns to the button with the same text in the same section.
 */
export function useFormFocus(isFormOpen: boolean): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  // The element that had the focus before the form replaced it. It is read during the first render, while the
  // button that opened the form still exists.
  const [opener] = useState(() => document.activeElement);
  useEffect(() => {
    const element = form.current;
    const section = element?.closest('section');
    if (!isFormOpen || element === null || section == null) return undefined;
    element.querySelector<HTMLElement>(fieldSelector)?.focus();
    const words = opener?.textContent ?? '';
    return () => {
      const { activeElement } = document;
      if (activeElement !== null && activeElement !== document.body) return;
      const buttons = [...section.querySelectorAll('button')];
      (buttons.find(({ textContent }) => textContent === words) ?? buttons[0])?.focus();
    };
  }, [isFormOpen, opener]);
  return form;
}
