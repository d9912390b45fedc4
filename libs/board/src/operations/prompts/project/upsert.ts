import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { upsertPrompt } from '../upsert-prompt.ts';

export const upsert = handle(registry.prompts.project.upsert, (context) =>
  upsertPrompt(context, context.targetId),
);
