/** Which menu a key opens at a card and at a story. The menu itself is loaded when the page is there. */
import { fetchEarly, lazily } from './lazily.ts';

export type Choosing = 'status' | 'assignee' | 'priority' | 'reviewer';

const keys: Readonly<Record<string, Choosing>> = {
  ...{ s: 'status', a: 'assignee', p: 'priority', r: 'reviewer' },
};
export const choosingOf = (key: string): Choosing | undefined => keys[key];

const load = () => import('./chooser.tsx');
export const Chooser = lazily(load);
export const loadChooser = (): void => fetchEarly(load);
