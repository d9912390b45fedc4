import { deliveryRegistry } from '@muster/delivery-registry';
import { handle, requireProject } from '@muster/runtime';
import { readAgentRecords } from '../../data/agent-record.ts';
import { daysOfRange } from '../../rules/day-range.ts';

const maxDays = 366;

export const record = handle(deliveryRegistry.agents.record, async ({ params, caller, db }) => {
  const range = daysOfRange(params, maxDays);
  const [page] = await Promise.all([
    readAgentRecords(db, caller, { ...params, ...range }),
    params.projectId === undefined ? undefined : requireProject(db, caller, params.projectId),
  ]);
  return page;
});
