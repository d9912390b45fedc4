import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { catalog } from './catalog/handlers.ts';
import { listActive } from './listActive.ts';
import { runEvent } from './runEvent.ts';

export const agents = { runEvent, listActive, catalog } satisfies HandlersOf<Registry['agents']>;
