import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { list } from './list.ts';

export const teamProjects = { list } satisfies HandlersOf<Registry['teams']['projects']>;
