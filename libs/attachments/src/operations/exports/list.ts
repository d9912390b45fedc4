import { attachmentsRegistry } from '@muster/attachments-registry';
import { handle, requireProject } from '@muster/runtime';
import { listExports } from '../../data/exports.ts';
import { type AttachmentsConfig, readSigning } from '../attachments/config.ts';

export const createList = (config: AttachmentsConfig) =>
  handle(attachmentsRegistry.exports.list, async (context) => {
    const { params, caller, db } = context;
    const { projectId } = params;
    const [page] = await Promise.all([
      listExports(db, caller, params, () => readSigning(context, config)),
      projectId === undefined ? undefined : requireProject(db, caller, projectId),
    ]);
    return page;
  });
