/** Maps shortcuts to the menus of cards and stories. The menu itself is loaded after the page. */
import { preload, lazyComponent } from './lazily.ts';

export type ChooserField = 'status' | 'assignee' | 'priority' | 'reviewer';

const chooserFieldByKey: Readonly<Record<string, ChooserField>> = {
  ...{ s: 'status', a: 'assignee', p: 'priority', r: 'reviewer' },
};
export const chooserFieldOf = (key: string): ChooserField | undefined => chooserFieldByKey[key];

const loadChooserModule = () => import('./chooser.tsx');
export const Chooser = lazyComponent(loadChooserModule);
export const preloadChooser = (): void => preload(loadChooserModule);
