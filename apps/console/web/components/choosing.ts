/** Maps shortcuts to the menus of cards and stories. The menu itself is loaded after the page. */
import { fetchEarly, lazily } from './lazily.ts';

export type Choosing = 'status' | 'assignee' | 'priority' | 'reviewer';

const keys: Readonly<Record<string, Choosing>> = {
  ...{ s: 'status', a: 'assignee', p: 'priority', r: 'reviewer' },
};
export const choosingOf = (key: string): Choosing | undefined => keys[key];

const load = () => import('./chooser.tsx');
export const Chooser = lazily(load);
export const loadChooser = (): void => fetchEarly(load);
