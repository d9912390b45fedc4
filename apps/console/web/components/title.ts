import { useEffect } from 'react';
import { t } from '../messages/index.ts';

/** What the window and a screen reader call the page. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${t.product}`;
  }, [title]);
}
