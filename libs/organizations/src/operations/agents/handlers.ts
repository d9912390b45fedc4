import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { create } from './create.ts';
import { list } from './list.ts';
import { retire } from './retire.ts';

/** What agents are; what they do is libs/delivery's. */
export const agents = { create, list, retire } satisfies Pick<
  HandlersOf<Registry['agents']>,
  'create' | 'list' | 'retire'
>;
