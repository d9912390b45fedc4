/** Creates or updates a prompt of the organization or of a project. */
import { type IdOrSql, withNextVersion, requireVersion } from '@muster/driver';
import { type Prompt } from '@muster/contract';
import { type boardRegistry } from '@muster/board-registry';
import { changedFields, type HandlerContext } from '@muster/runtime';
import { toPromptEventSubject, lockOrCreatePrompt, writePrompt, toPrompt } from '../../data/prompts.ts';

type UpsertPromptContext = Pick<
  HandlerContext<typeof boardRegistry.prompts.org.upsert>,
  'params' | 'caller' | 'db' | 'access' | 'emit'
>;

export async function upsertPrompt(
  { params, caller, db, access, emit }: UpsertPromptContext,
  projectId: IdOrSql | null,
): Promise<{ prompt: Prompt }> {
  const [{ prompt, created }, { at }] = await Promise.all([
    lockOrCreatePrompt(db, caller, projectId, params),
    access(),
  ]);
  requireVersion(created ? { version: 0 } : prompt, params.expectedVersion);
  if (created) {
    emit('prompt.created', toPromptEventSubject(prompt), { slug: prompt.slug });
    return { prompt: toPrompt(prompt) };
  }
  const { title, body, arguments: asks, tags } = params;
  const draft = { title, body, arguments: asks, tags };
  if (changedFields(prompt, draft).length === 0) return { prompt: toPrompt(prompt) };

  const changes = { ...draft, body_bytes: Buffer.byteLength(body), updated_by: caller.actor };
  const changed = withNextVersion(prompt, changes, at);
  db.deferToCommit(writePrompt(changed));
  emit('prompt.updated', toPromptEventSubject(changed), { slug: changed.slug });
  return { prompt: toPrompt(changed) };
}
