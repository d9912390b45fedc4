/** The operations about connections to forges and their repositories. */
import { forges } from './forges.ts';

export const forgesRegistry = { forges };
export type ForgesRegistry = typeof forgesRegistry;
