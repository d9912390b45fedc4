import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { upsertPrompt } from '../upsert-prompt.ts';

export const upsert = handle(registry.prompts.org.upsert, (context) => upsertPrompt(context, null));
