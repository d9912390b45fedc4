import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { toPromptEventSubject, deletePrompt } from '../../../data/prompts.ts';

// `delete` is a reserved word.
export const deleteOperation = handle(boardRegistry.prompts.org.delete, async ({ params, db, emit }) => {
  const prompt = await deletePrompt(db, null, params.slug);
  emit('prompt.deleted', toPromptEventSubject(prompt), { slug: prompt.slug });
  return { deleted: true as const };
});
