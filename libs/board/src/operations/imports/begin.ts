import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { isProjectEmpty } from '../../data/import-archive.ts';
import { toImportEventSubject, imports, toImport } from '../../data/imports.ts';

export const begin = handle(boardRegistry.imports.begin, async ({ params, caller, db, access, emit }) => {
  const { at, projectId } = await access();
  if (projectId === null) throw new Error('the authorization check did not find the project');
  const intoEmptyProject = params.provider === 'muster' && (await isProjectEmpty(db, projectId));
  const row = imports.make({ ...params, projectId, begunBy: caller.actor, intoEmptyProject }, at);
  db.deferToCommit(imports.insert(row));
  emit('import.started', toImportEventSubject(row), { provider: row.provider });
  return { import: toImport(row) };
});
