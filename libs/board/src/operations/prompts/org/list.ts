import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listPrompts } from '../../../data/prompts.ts';

export const list = handle(registry.prompts.org.list, ({ params, db }) => listPrompts(db, null, params));
