import { list } from './list.ts';

export const events = { list };
