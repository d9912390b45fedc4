import { leadRank } from '@muster/contract';
import { attachmentsRegistry } from '@muster/attachments-registry';
import { getVisibleProject, handle } from '@muster/runtime';
import { outboxRow } from '@muster/tenancy';
import {
  dataExports,
  deleteOldestExportInScope,
  insertOrFindUnfinished,
  toExport,
} from '../../data/exports.ts';
import { type AttachmentsConfig, readSigning } from '../attachments/config.ts';

export const createBeginHandler = (config: AttachmentsConfig) =>
  handle(attachmentsRegistry.exports.begin, async (context) => {
    const { params, caller, db, access, requireGround } = context;
    const { scope, projectId } = params;
    const [{ at }, project, signing] = await Promise.all([
      access(),
      projectId === undefined ? null : getVisibleProject(db, caller, projectId),
      readSigning(context, config),
    ]);
    await requireGround(scope === 'me' && 'author', (project?.rank ?? 0) >= leadRank && 'projectLead');
    const made = dataExports.make(
      {
        ...{ scope, projectId: project?.id ?? null, memberId: caller.memberId },
        ...{ requestedBy: caller.actor, startedAt: at },
      },
      at,
    );
    const row = await insertOrFindUnfinished(db, made);
    if (row === made) {
      db.deferToCommit(outboxRow('export.write', { exportId: row.id }));
      db.deferToCommit(deleteOldestExportInScope(row));
    }
    return { export: toExport(row, signing) };
  });
