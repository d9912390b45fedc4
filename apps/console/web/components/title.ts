import { useEffect } from 'react';
import { t } from '../messages/index.ts';

/** Sets the title of the window, which screen readers announce. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${t.product}`;
  }, [title]);
}
