import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { upsertPrompt } from '../upsert-prompt.ts';

export const upsert = handle(boardRegistry.prompts.org.upsert, (context) => upsertPrompt(context, null));
