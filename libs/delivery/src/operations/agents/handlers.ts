import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { catalog } from './catalog/handlers.ts';
import { listActive } from './listActive.ts';
import { runEvent } from './runEvent.ts';

/** What agents do; that they are is libs/organizations'. */
export const agents = { runEvent, listActive, catalog } satisfies Omit<
  HandlersOf<Registry['agents']>,
  'create' | 'list' | 'retire'
>;
