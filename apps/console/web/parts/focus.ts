import { type RefObject, useEffect, useRef } from 'react';

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
